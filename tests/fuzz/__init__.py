"""One target a file: what is promised of any text or file, tried with those of the corpus after some random changes.

The corpus: `tests/batteries` (answers in the styles of models) and `tests/hostile.py` (texts that broke something, and
pieces of them). In `make test` each target has the same few examples every time; `make fuzz` (scripts/fuzz.py) draws
new ones for a minute a target.
"""
