"""Baselines without weights: prompt text in, answer text out.

They are pure; :mod:`tls_tasks.harness.models` gives them to the
harness.
"""
