"""Timelines: alignment ROUGE and date F1."""
