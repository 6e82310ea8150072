"""How trees are counted and aligned: two profiles, treeval's guide and its program, and four points to change.

``docs/tree_eval_options.md`` says where the profiles differ, and why.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tls_tasks.core.errors import InputError
from tls_tasks.core.options import check_choice

OPTIONS: Mapping[str, tuple[str, ...]] = {
    "types": ("strict", "loose"),
    "list_items": ("nodes", "surplus"),
    "unmatched_items": ("nodes", "worst"),
    "aggregate": ("micro", "macro"),
}
"""Name -> the values that it may have, the guide's first."""


@dataclass(frozen=True, slots=True)
class TreeOptions:
    """A profile, and what may be changed in it.

    Attributes:
        profile: ``guide`` or ``treeval``.
        types: ``strict``: a value of another type than its leaf's scores the worst, and ``True`` is not 1; ``loose``:
            metrics see every value.
        list_items: ``nodes``: items of lists count as nodes, found or not; ``surplus``: only those that find no
            counterpart, always as false.
        unmatched_items: Items without counterpart: count as ``nodes`` only, or their metrics get the ``worst`` score
            too.
        aggregate: Results of the summed counts (``micro``), or the mean of the samples' results (``macro``).
    """

    profile: str = "guide"
    types: str = "strict"
    list_items: str = "nodes"
    unmatched_items: str = "nodes"
    aggregate: str = "micro"

    def __str__(self) -> str:
        """The profile's name, and what differs from it."""
        changed = [name for name in OPTIONS if getattr(self, name) != getattr(PROFILES[self.profile], name)]
        return ",".join([self.profile, *(f"{name}={getattr(self, name)}" for name in changed)])


PROFILES = {
    "guide": TreeOptions(),
    "treeval": TreeOptions("treeval", types="loose", list_items="surplus"),
}


def resolve_options(compat: str | None, changes: Any) -> TreeOptions:
    """The profile with the options that the caller has changed.

    Example:
        >>> str(resolve_options("treeval", {"types": "strict"}))
        'treeval,types=strict'
        >>> resolve_options(None, {"list_item": "nodes"})
        Traceback (most recent call last):
        ...
        tls_tasks.core.errors.OptionError: option: got 'list_item', expected one of 'types', 'list_items', \
'unmatched_items', 'aggregate'
    """
    check_choice("compat", compat, (None, "treeval"))
    if changes is not None and not isinstance(changes, Mapping):
        raise InputError("options", None, repr(changes), f"a dictionary of {', '.join(OPTIONS)}")
    for name, value in (changes or {}).items():
        check_choice("option", name, OPTIONS)
        check_choice(name, value, OPTIONS[name])
    return dataclasses.replace(PROFILES[compat or "guide"], **(changes or {}))
