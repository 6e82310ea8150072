"""Lets lm_eval and evaluate find installed plugins by entry point, in releases that don't read entry points themselves.

At start-up it only puts a finder on sys.meta_path; the rest waits until a host is imported. TLS_TASKS_NO_HOOK=1: off.
"""

import os
import sys

# A host's module -> the kinds of plugins whose registries are full once it has run; each has a group lm_eval.KINDs.
HOSTS = {"lm_eval.tasks": ("filter", "metric", "aggregation"), "lm_eval.models": ("model",), "evaluate.loading": ()}
# evaluate looks these up on its hub, one request each: no package gets between.
EVALUATES = """accuracy bertscore bleu bleurt brier_score cer character charcut_mt chrf code_eval comet competition_math
    confusion_matrix coval cuad exact_match f1 fever frugalscore glue google_bleu honest indic_glue label_distribution
    mae mahalanobis mape mase matthews_correlation mauve mcnemar mean_iou meteor mse nist_mt pearsonr perplexity poseval
    precision r_squared recall regard rl_reliability roc_auc rouge sacrebleu sari seqeval smape spearmanr squad squad_v2
    super_glue ter text_duplicates toxicity trec_eval wer wiki_split wilcoxon word_count word_length xnli xtreme_s"""
TYPE_CHECKING = False  # what type checkers look for; to import typing or pathlib would take longer than all of this
if TYPE_CHECKING:
    from typing import Any


def _guarded(default: "Any", function: "Any", *args: "Any") -> "Any":
    try:
        return function(*args)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # whatever is odd about a plugin or a host, sys.exit() too: the user's program runs
        if os.environ.get("TLS_TASKS_DEBUG") and sys.stderr:
            sys.stderr.write(f"tls-tasks hook: {function.__name__}: {error!r}\n")
        return default


def _folders(**query: "Any") -> "list[str]":
    from importlib import metadata, util

    def folder(plugin: "Any") -> "Any":
        spec: Any = util.find_spec(plugin.module)
        return os.path.realpath(next(iter(spec.submodule_search_locations or [f"{spec.loader.path}/.."])))

    return list(filter(None, dict.fromkeys(_guarded(None, folder, each) for each in metadata.entry_points(**query))))


def _with_plugins(include_path: "Any", manager: "Any", start: "Any") -> "Any":
    given = list(include_path) if isinstance(include_path, (list, tuple)) else [include_path] if include_path else []
    start(host := object.__new__(manager), include_defaults=False)  # what it finds by itself, whatever finds it there
    entries = getattr(host, "task_index", {}).values()
    own = [entry["yaml_path"] if isinstance(entry, dict) else entry.yaml_path for entry in entries]
    read = [os.path.realpath(str(path)) for path in own]
    covered = tuple(os.path.realpath(path) + os.sep for path in given)  # what lies below is read too: not twice
    plugins = [
        path
        for path in _folders(group="lm_eval.tasks")
        if not (path + os.sep).startswith(covered) and not any(at.startswith(path + os.sep) for at in read)
    ]
    return plugins + given if plugins else include_path  # a later path wins: defaults, plugins, what the user names


def _module_folder(path: "Any", *_: "Any") -> "Any":  # what lies here comes first, as before
    is_free = str(path).isidentifier() and path not in EVALUATES.split()
    places = [f"{folder}/{path}" for folder in _folders(group="evaluate.modules") if is_free]
    return next((place for place in [path, *places] if os.path.isfile(f"{place}/{path}.py")), path)  # noqa: PTH113


def _change(owner: "Any", function: str, argument: str, change: "Any") -> None:
    import functools
    import inspect

    @functools.wraps(original := getattr(owner, function))
    def changed(*args: "Any", **kwargs: "Any") -> "Any":
        bound = inspect.signature(original).bind(*args, **kwargs)
        given = bound.arguments.get(argument)
        bound.arguments[argument] = _guarded(given, change, given, owner, original)
        return original(*bound.args, **bound.kwargs)

    vars(changed)["_by_tls_tasks"] = True
    setattr(owner, function, original if hasattr(original, "_by_tls_tasks") else changed)


class _Path(str):  # a placeholder in a registry, which gives way to what its own package registers under that name
    def __ne__(self, other: "Any") -> bool:
        module = str(getattr(other, "__module__", ""))
        return str(self) != other and self.split(":")[0].split(".")[0] != module.split(".")[0]


def _register(registry: "Any", plugin: "Any") -> None:
    if plugin.name not in registry:  # text: an EntryPoint clashes with @register_model
        registry.register(plugin.name, target=_Path(plugin.value))


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

    def patch(self, module: "Any") -> None:
        from importlib import metadata

        if module.__name__ == "evaluate.loading":
            _change(module, "evaluation_module_factory", "path", _module_folder)
        elif module.__name__ == "lm_eval.tasks":
            _guarded(None, _change, module.TaskManager, "__init__", "include_path", _with_plugins)
        for kind in HOSTS[module.__name__]:
            registry = getattr(sys.modules.get("lm_eval.api.registry"), f"{kind}_registry", None)
            for plugin in metadata.entry_points(group=f"lm_eval.{kind}s") if registry is not None else ():
                _guarded(None, _register, registry, plugin)


def install() -> None:
    """Put the finder first and patch hosts that are imported already; a second call changes nothing."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
    for module in filter(None, map(sys.modules.get, HOSTS)):
        _guarded(None, _Finder().patch, module)


if os.environ.get("TLS_TASKS_NO_HOOK", "0") in ("", "0"):
    install()
