"""Runs as archives that others can check, and the board that ranks them."""
