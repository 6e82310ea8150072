"""Summaries: ROUGE-L."""
