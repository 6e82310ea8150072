"""The typed objects that scorers take: frozen, validated once, standard library only. One file a family."""

from tls_tasks.types.timelines import Timeline, TimelineEntry

__all__ = ["Timeline", "TimelineEntry"]
