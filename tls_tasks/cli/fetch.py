"""``tls-tasks fetch NAME …``: the real data, from its authors' public repositories into the cache."""

from __future__ import annotations

import argparse

from tqdm import tqdm

from tls_tasks.cli.base import Subparsers, add_command, count, say
from tls_tasks.cli.listing import data_sets
from tls_tasks.core.errors import DataError, OptionError
from tls_tasks.data.catalogue import DataSet
from tls_tasks.data.fetched import PublicCopy, remember
from tls_tasks.timelines.data import DATA_SETS, PUBLIC

_ALL = "all"


def add_parser(subparsers: Subparsers) -> None:
    """Add this command to the command line."""
    add = add_command(subparsers, "fetch", _run).add_argument
    add("names", nargs="*", metavar="NAME", help="tls_crisis, tls_timeline17, tls_open, or all")
    text = "from now on tasks fetch by themselves when they are loaded (--no-always: no longer)"
    add("--always", action=argparse.BooleanOptionalAction, help=text)


def _run(args: argparse.Namespace) -> int:
    """Fetch the real data of timeline tasks from public repositories into the cache.

    Every file is pinned by commit, size and sha256. It comes from the authors' repositories, under their licences,
    which are printed; tls-tasks contains and passes on none of it. A file that has arrived is not asked for again.
    lm_eval --tasks NAME finds the data by itself afterwards.

    Environment:
      TLS_TASKS_CACHE   where it is kept; by default tls-tasks in the user's folder of caches (~/.cache)
      TLS_TASKS_FETCH   1: tasks fetch by themselves when they are loaded, as after --always; 0: they don't
      TLS_TASKS_MIRROR  an address in the place of https://raw.githubusercontent.com/, with files at
                        OWNER/NAME/COMMIT/PATH below it

    Examples:
      tls-tasks fetch tls_crisis
      tls-tasks fetch all --always
    """
    if not args.names and args.always is None:
        raise OptionError("NAME", None, "nothing", f"{', '.join(sorted(PUBLIC))} or {_ALL}")
    known = data_sets()
    names = [name for given in args.names for name in (PUBLIC if given == _ALL else [given])]
    copies = [_copy(name, known) for name in dict.fromkeys(names)]
    if args.always is not None:
        how = "when they are loaded" if args.always else "no longer"
        say(f"{remember(args.always)}: tasks fetch their data by themselves {how}")
    for copy in copies:
        _fetch(copy)
    if _ALL in args.names:
        for name in DATA_SETS.keys() - PUBLIC.keys():
            say(f"{name}: has no public copy; {DATA_SETS[name].obtain}")
    return 0


def _copy(name: str, known: dict[str, DataSet]) -> PublicCopy:
    """The data set that was asked for.

    Raises:
        DataError: If it can't be fetched; says how to get it.
        OptionError: If there is none of that name.
    """
    if name in PUBLIC:
        return PUBLIC[name]
    if name not in known:
        raise OptionError.unknown("NAME", name, [*sorted(PUBLIC), _ALL])
    data_set = known[name]
    if data_set.hub is not None:
        origin = data_set.hub.origin
        raise DataError(f"{name}: needs no fetching: its tasks get it from the hub by themselves ({origin})")
    variable = f"TLS_TASKS_DATA=<folder with {data_set.folders[0]} in it>"
    raise DataError(f"{name}: has no public copy that could be fetched: {data_set.obtain}, then set {variable}")


def _fetch(copy: PublicCopy) -> None:
    if copy.is_there:
        say(f"{copy.name}: is there: {copy.folder}")
        return
    n_files = sum(len(source.files) for source in copy.sources)
    say(f"{copy.name}: {count(n_files, 'file')}, {copy.n_bytes / 1e6:.1f} MB", flush=True)
    for source in copy.sources:
        say(f"  {source.holds} from {source.origin}, licence: {source.licence}", flush=True)
    with tqdm(total=copy.n_bytes, desc=copy.name, unit="B", unit_scale=True, leave=False, disable=None) as bar:
        folder = copy.fetch(bar.update)
    task = copy.name if copy.has_articles else f"{copy.name}_closed_book"
    say(f"{copy.name}: is in {folder}")
    say(f"try it: lm_eval --tasks {task} …", flush=True)
