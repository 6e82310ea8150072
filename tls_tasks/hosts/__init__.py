"""The frameworks that run our tasks and metrics."""
