"""Build the judge that a task's metadata or a command line specifies.

A specification is ``none``, ``recorded`` (the verdicts that come with the embedded edition), or an object with one of

- ``recorded``: a recording, such as ``verdicts.jsonl`` of an earlier run;
- ``base_url`` and ``model``: any OpenAI-compatible endpoint; ``api_key_env`` names the variable with its key;
- ``provider`` (openai, anthropic, together) and ``model``;
- ``harness``: a model of the harness such as ``hf``, with ``model_args``; it answers by the likelihood of YES and NO.

``cache`` names the file in which verdicts of an endpoint are stored (by default one in the user's cache folder; false:
none).

A specification is written into every document, and so into logs and submissions: it names the variable that holds a
secret, never the secret.
"""

import importlib
import logging
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from enum import Enum
from inspect import signature
from pathlib import Path
from typing import Any, cast

from tls_tasks.core.errors import InputError, check_choice, check_switches, describe
from tls_tasks.core.secrets import check_no_secret
from tls_tasks.data.fetched import cache_folder
from tls_tasks.data.files import text_lines
from tls_tasks.reports.data import EMBEDDED_RECORDING
from tls_tasks.reports.documents import make_lookup, read_lookup_files
from tls_tasks.reports.judges.endpoint import ChatJudge
from tls_tasks.reports.judges.recordings import Recorded
from tls_tasks.reports.nuggets import read_requests
from tls_tasks.reports.read import parse_report_row
from tls_tasks.reports.types import Judge, Report

_log = logging.getLogger(__name__)
_VALUE = r"""(?:"([^"\n]*)"|'([^'\n]*)'|([^#\n]*))"""
_ASSIGNMENT = re.compile(rf"^[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)[ \t]*=[ \t]*{_VALUE}", re.MULTILINE)


class ModelProvider(str, Enum):
    """A provider whose models can judge."""

    TOGETHER = "together"
    OPENAI = "openai"
    ANTHROPIC = "anthropic"


HOSTS = {"together": "api.together.xyz", "openai": "api.openai.com", "anthropic": "api.anthropic.com"}
"""Provider -> the host name of its endpoint."""


def check_judge(spec: Any) -> str:
    """Refuse a specification that can't work, before anything is generated.

    Files are read, keys are looked up and the cache is opened, but no model is loaded and no server is asked.

    Returns:
        The judge's name in results.

    Raises:
        InputError: Not a specification, or a value in it that can't be used; OptionError for an unknown key.
        DataError: A recording that can't be read, or a cache that can't be written.

    Example:
        >>> check_judge("none"), check_judge("recorded")
        ('none', 'embedded')
        >>> check_judge({"base_url": "http://localhost:8000/v1"})
        Traceback (most recent call last):
        ...
        tls_tasks.core.errors.InputError: model: got None, expected the name of a model
    """
    judge = make_judge(spec, loads=False)
    return "none" if judge is None else judge.name


def from_provider(
    provider: str | ModelProvider,
    model_name: str,
    *,
    api_key: str | None = None,
    base_url: str | None = None,
    name: str | None = None,
    **options: Any,
) -> ChatJudge:
    """Build a judge from the name of its provider.

    Args:
        provider: ``together``, ``openai`` or ``anthropic``.
        model_name: The model, as the provider calls it.
        api_key: By default the value of ``TOGETHER_API_KEY``, ``OPENAI_API_KEY`` or ``ANTHROPIC_API_KEY``, in the
            environment or in the file ``.env``.
        base_url: Another URL of the provider.
        name: For the signature; by default provider and model.
        **options: See :class:`~tls_tasks.reports.judges.ChatJudge`.

    Raises:
        OptionError: A provider that doesn't exist.
        InputError: No key, or an argument that can't be used.

    Example:
        >>> judge = from_provider("openai", "gpt-4o", api_key="sk-123")
        >>> judge.name.partition(",")[0]
        'openai/gpt-4o'
    """
    check_choice("provider", provider, HOSTS)
    provider_name = ModelProvider(provider).value
    key = read_key(f"{provider_name.upper()}_API_KEY") if api_key is None else api_key
    url = base_url or f"https://{HOSTS[provider_name]}/v1"
    return ChatJudge(url, model_name, api_key=key, name=name or f"{provider_name}/{model_name}", **options)


def read_key(variable: str) -> str:
    """Return the key in an environment variable, or else in the file ``.env`` of the working directory.

    Raises:
        InputError: The key is missing or empty.

    Example:
        >>> read_key("NO_SUCH_KEY")
        Traceback (most recent call last):
        ...
        tls_tasks.core.errors.InputError: NO_SUCH_KEY: got nothing, expected a key in the environment or in .env
    """
    text = ""
    with suppress(OSError, UnicodeDecodeError):
        text = Path(".env").read_text(encoding="utf-8")
    # Values are taken literally: no variable is substituted, and nothing is run.
    assigned = {name: "".join(values) for name, *values in _ASSIGNMENT.findall(text)}
    if not (key := os.environ.get(variable, "").strip() or assigned.get(variable, "").strip()):
        raise InputError(variable, None, "nothing", "a key in the environment or in .env")
    return key


def evaluate_report(
    report: Any,
    nuggets_file: str | Path,
    provider: str | ModelProvider = ModelProvider.TOGETHER,
    model_name: str | None = None,
    *,
    documents: Any = None,
    judge: Any = None,
    verbose: bool = False,
    **options: Any,
) -> dict[str, Any]:
    """Judge and score one report.

    Args:
        report: A report in any form that :func:`~tls_tasks.reports.report_eval.report_eval` takes, with ``request_id``.
        nuggets_file: JSON Lines of requests with nuggets; the first line with the report's ``request_id`` counts.
        provider: The provider of the judge's model: ``together``, ``openai`` or ``anthropic``.
        model_name: The model, as the provider calls it.
        documents: The cited documents, as in ``report_eval``; by default, for a model, the look-up files of
            report_gen_eval, ``./neuclir-docs-lookup/doc_mapping_COLLECTION.pkl``.
        judge: Another judge instead of provider and model.
        verbose: Whether the score of each sentence, with what it cites and gives, is logged.
        **options: Options of ``report_eval``, such as ``compat="report_gen_eval"``.

    Returns:
        ``request_id``, ``run_id``, ``collection_ids``, ``metrics`` (the results and counts of ``report_eval``),
        ``citation_documents`` (id -> text of each document that is cited and found), ``sentence_results`` (for each
        sentence ``sentence_index``, ``sentence``, ``score``, ``matched`` …), ``signature``.

    Raises:
        DataError: The file of nuggets can't be read.
        InputError: A report that can't be read, or no key for the provider.
        JudgeError: A judge that can't be used.

    Example:
        >>> import json, tempfile
        >>> row = {"query_id": "7", "items": [{"question_text": "When did it rain?", "gold_answers": ["on Monday"]}]}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder, "nuggets.jsonl")
        ...     _ = file.write_text(json.dumps(row))
        ...     results = evaluate_report(
        ...         {"request_id": "7", "sentences": [{"text": "It rained on Monday.", "citations": ["d1"]}]},
        ...         nuggets_file=file,
        ...         documents={"d1": "Heavy rain fell on Monday."},
        ...         judge=lambda query: True,
        ...     )
        >>> results["metrics"]["recall"], results["sentence_results"][0]["sentence"], results["citation_documents"]
        (1.0, 'It rained on Monday.', {'d1': 'Heavy rain fell on Monday.'})
    """
    from tls_tasks.reports.report_eval import report_eval  # imported here, since it imports this package

    parsed = report if isinstance(report, Report) else parse_report_row(report).value
    if judge is None:
        judge = from_provider(provider, model_name or "")
        if documents is None and parsed and any(sentence.citations for sentence in parsed.sentences):
            documents = read_lookup_files([parsed])
    requests, _ = read_requests(text_lines(Path(nuggets_file)), str(nuggets_file))
    score = report_eval([report], [list(requests)], documents, judge, **options)
    item = score.as_dict(detailed=True)["items"][0]
    results = {key: value for key, value in score.as_dict().items() if key not in ("signature", "counts")}
    if verbose:
        logging.basicConfig(level=logging.INFO, format="%(message)s")
        _log.info("%s", score.explain())
    collections = list(parsed.collection_ids) if parsed else []
    cited = {doc_id for sentence in parsed.sentences for doc_id in sentence.citations} if parsed else set()
    texts = {}
    for doc_id in sorted(cited) if documents is not None else ():
        with suppress(Exception):  # a store that can't be read, whatever it raises, is counted among the verdicts
            texts[doc_id] = make_lookup(documents)(collections, doc_id)
    return {
        "request_id": item["request_id"],
        "run_id": item["run_id"],
        "collection_ids": collections,
        "metrics": {**results, **item["counts"]},
        "citation_documents": {doc_id: text for doc_id, text in texts.items() if text is not None},
        "sentence_results": [
            {"sentence_index": one.pop("index"), "sentence": one.pop("text"), **one}
            for one in item.get("sentences", ())
        ],
        "signature": score.signature,
    }


# A specification names the key's variable, never the key.
_OF_ENDPOINTS = ("api_key_env", "base_url", *({*signature(ChatJudge).parameters} - {"url", "api_key"}))
_KINDS: Mapping[str, tuple[str, ...]] = {
    "recorded": ("name", "defaults"),
    **dict.fromkeys(("provider", "base_url"), _OF_ENDPOINTS),  # provider comes first: base_url is an option of it
    "harness": ("model_args", "chat", "batch_size", "device"),
}
"""Key that decides the kind of judge -> the options of this kind."""

_TEXTS = ("name", "api_key_env", "base_url")  # the values of these options are text or null

_EXAMPLE = '{"base_url": "http://localhost:8000/v1", "model": "NAME"}'
_EXPECTED = f"'none', 'recorded', or an object with one of {', '.join(_KINDS)}, such as {_EXAMPLE}"


def make_judge(spec: Any, *, loads: bool = True) -> Judge | None:
    """Build the judge that a specification names; None for ``none``.

    Args:
        spec: The specification.
        loads: Whether models are loaded; if not, a judge that needs one is returned with its name alone.

    Raises:
        InputError: As :func:`check_judge`; DataError, MissingExtraError.

    Example:
        >>> make_judge("none") is None
        True
    """
    if spec in (None, "none"):
        return None
    check_no_secret(spec, "judge")  # checked first, since other messages repeat values
    if spec == "recorded":
        spec = {"recorded": str(EMBEDDED_RECORDING), "name": "embedded"}
    kind = next((name for name in _KINDS if name in spec), None) if isinstance(spec, Mapping) else None
    if kind is None:
        raise InputError("judge", None, repr(spec), _EXPECTED)
    options = dict(spec)
    value = options.pop(kind)
    for name in options:
        check_choice("judge", name, sorted({kind, *_KINDS[kind]}))
    texts = {kind: value or None} | {name: spec[name] for name in _TEXTS if spec.get(name) is not None}
    for name, text in texts.items():
        if not isinstance(text, str) or not text.isprintable():  # no path, address or variable looks like this
            raise InputError(f"judge.{name}", None, describe(spec[name]), "a str of printable characters")
    check_switches(**{"judge.chat": spec.get("chat", False)})
    if kind == "recorded":
        return Recorded.read(Path(value).expanduser(), **options)
    if kind == "harness":
        hosts: Any = importlib.import_module("tls_tasks.hosts.judges")  # by name: families don't import hosts
        return cast(Judge, hosts.from_options(value, loads=loads, **options))
    if (variable := options.pop("api_key_env", None)) is not None:
        options["api_key"] = read_key(variable)
    model, cache = options.pop("model", None), options.pop("cache", None)
    file = cache_folder() / "verdicts.sqlite" if cache is None else Path(str(cache)).expanduser() if cache else None
    return (from_provider if kind == "provider" else ChatJudge)(value, model, cache=file, **options)
