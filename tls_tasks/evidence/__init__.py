"""Evidence-grounded extraction."""
