"""What lm-evaluation-harness calls: scoring of responses, aggregations, models without weights.

The YAML under ``task_configs/`` reaches these through the small ``hooks.py`` beside it, since releases before 0.4.12
find functions only in files beside a task's YAML.
"""
