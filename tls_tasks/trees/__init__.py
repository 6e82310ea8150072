"""Structured trees."""
