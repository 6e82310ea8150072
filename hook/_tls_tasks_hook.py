"""Lets lm_eval and evaluate find installed plugins by entry point, in releases that don't read entry points themselves.

At start-up it only puts a finder on sys.meta_path; the rest waits until a host is imported. TLS_TASKS_NO_HOOK=1: off.
"""

import os
import sys

HOSTS = ("lm_eval.tasks", "lm_eval.models", "evaluate.loading")
TYPE_CHECKING = False  # what type checkers look for; to import typing or pathlib would take longer than all of this
if TYPE_CHECKING:
    from typing import Any


def _guarded(default: "Any", function: "Any", *args: "Any") -> "Any":
    try:
        return function(*args)
    except Exception as error:  # whatever is odd about a plugin or a host, the user's program must run
        if os.environ.get("TLS_TASKS_DEBUG") and sys.stderr:
            sys.stderr.write(f"tls-tasks hook: {function.__name__}: {error!r}\n")
        return default


def _folders(**query: "Any") -> "list[str]":
    from importlib import metadata, util

    def folder(plugin: "Any") -> "Any":
        spec: Any = util.find_spec(plugin.module)
        return os.path.realpath(next(iter(spec.submodule_search_locations or [f"{spec.loader.path}/.."])))

    return list(filter(None, dict.fromkeys(_guarded(None, folder, each) for each in metadata.entry_points(**query))))


def _with_plugins(include_path: "Any") -> "Any":
    given = list(include_path) if isinstance(include_path, (list, tuple)) else [include_path] if include_path else []
    covered = tuple(os.path.realpath(path) + os.sep for path in given)  # what lies below is read too: not twice
    plugins = [path for path in _folders(group="lm_eval.tasks") if not (path + os.sep).startswith(covered)]
    return plugins + given if plugins else include_path  # a later path wins: defaults, plugins, what the user names


def _module_folder(path: "Any") -> "Any":  # what lies here comes first, as before
    places = [f"{folder}/{path}" for folder in _folders(group="evaluate.modules") if str(path).isidentifier()]
    return next((place for place in [path, *places] if os.path.isfile(f"{place}/{path}.py")), path)  # noqa: PTH113


def _change(owner: "Any", function: str, argument: str, change: "Any") -> None:
    import functools
    import inspect

    @functools.wraps(original := getattr(owner, function))
    def changed(*args: "Any", **kwargs: "Any") -> "Any":
        bound = inspect.signature(original).bind(*args, **kwargs)
        bound.arguments[argument] = _guarded(given := bound.arguments.get(argument), change, given)
        return original(*bound.args, **bound.kwargs)

    vars(changed)["_by_tls_tasks"] = True
    setattr(owner, function, original if hasattr(original, "_by_tls_tasks") else changed)


class _Finder:  # lets the finders behind it find a host's module, and patches it once its own loader has run it
    def find_spec(self, name: str, path: "Any" = None, target: "Any" = None) -> "Any":
        return _guarded(None, self.find, name, path, target) if name in HOSTS else None

    def find(self, *query: "Any") -> "Any":
        spec: Any = next(filter(None, (f.find_spec(*query) for f in sys.meta_path[sys.meta_path.index(self) + 1 :])))
        loader, run = spec.loader, spec.loader.exec_module

        def run_and_patch(module: "Any") -> None:
            vars(loader).pop("exec_module", None)
            run(module)
            _guarded(None, self.patch, module)

        vars(loader)["exec_module"] = run_and_patch
        return spec

    def patch(self, module: "Any") -> None:  # stands down where lm_eval does it itself: its pull requests 4013 and 4015
        manager, registry = getattr(module, "manager", None), sys.modules.get("lm_eval.api.registry")
        if module.__name__ == "evaluate.loading":
            _change(module, "evaluation_module_factory", "path", _module_folder)
        elif module.__name__ == "lm_eval.tasks" and not hasattr(manager, "discover_plugin_task_paths"):
            _change(module.TaskManager, "__init__", "include_path", _with_plugins)
        elif registry and module.__name__ == "lm_eval.models" and not hasattr(registry, "load_plugins"):
            from importlib.metadata import entry_points

            for plugin in entry_points(group="lm_eval.models"):
                if plugin.name not in registry.model_registry:  # text: an EntryPoint clashes with @register_model
                    registry.model_registry.register(plugin.name, target=plugin.value)


def install() -> None:
    """Put the finder first and patch hosts that are imported already; a second call changes nothing."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
    for module in filter(None, map(sys.modules.get, HOSTS)):
        _guarded(None, _Finder().patch, module)


if os.environ.get("TLS_TASKS_NO_HOOK", "0") in ("", "0"):
    install()
