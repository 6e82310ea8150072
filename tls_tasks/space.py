"""One small app for all metrics, as a Space or at home: text boxes and options in, score, signature and picture out.

What is asked follows from the signature of the metric's function, so that a new metric needs nothing here but two
examples of its family in ``space.json``. Its options are one JSON object. Nothing is asked of a model.
"""

import html
import importlib
import inspect
import json
import logging
import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from importlib import resources
from typing import Any

from tls_tasks.after.page import asset, picture_page
from tls_tasks.core.errors import InputError, TlsTasksError, needs_extra
from tls_tasks.core.score import Score
from tls_tasks.core.terminal import visible
from tls_tasks.registry import FAMILIES, METRICS, MetricSpec

_log = logging.getLogger(__name__)

_KEPT: dict[str, dict[str, Any]] = json.loads(resources.files("tls_tasks").joinpath("space.json").read_text("utf-8"))
"""The examples of each family, and what is said of ``arguments`` and ``options``."""

_OPTIONS = "options as JSON"
_OF_JSON = (str, int, float, tuple, type(None))

_LONGEST = 100_000  # characters of all texts together: a Space is shared

_LEFT_OUT = {"topics", "use_aggregator", "confidence_interval", "n_resamples", "seed"}
"""Options that mean nothing for one document."""


def launch(metric: str) -> None:
    """Serve the app of a metric until it is stopped.

    Raises:
        MissingExtraError: Without gradio.
    """
    space(metric).launch(**settings())


def settings() -> dict[str, Any]:
    """How the app is served, here or mounted elsewhere: drawn by the browser, with fonts that it has."""
    from gradio.themes import Default

    theme = Default(primary_hue="blue", font=["system-ui"], font_mono=["monospace"])
    readable = {"block_info_text_color": "*neutral_600", "block_info_text_color_dark": "*neutral_300"}
    theme.set(button_primary_background_fill="*primary_700", button_primary_text_color="white", **readable)
    return {"ssr_mode": False, "footer_links": [], "theme": theme, "css": asset("space.css")}


def space(metric: str) -> Any:
    """The app of a metric: gradio's ``Blocks``, to launch or to mount with :func:`settings`.

    Raises:
        MissingExtraError: Without gradio.
    """
    with needs_extra("the app of a metric", "spaces"):
        import gradio as gr
    spec = METRICS[metric]
    texts, options = _fields(spec)
    inputs = {}
    with gr.Blocks(title=f"{metric}: {spec.summary}", analytics_enabled=False) as app:
        gr.Markdown(f"# {metric}\n\n{spec.summary[0].upper()}{spec.summary[1:]}. Defined by: {spec.citation}.")
        top = gr.Column()
        with gr.Row():
            for name in texts:
                label, info = name[:-1] if name in spec.columns else name, _KEPT["arguments"].get(name)
                inputs[name] = gr.Textbox(label=label, info=info, lines=5, max_lines=20, min_width=300)
        with top:
            label = "Examples: choose one, then Score"
            rows = [[example.get(name, "") for name in texts] for example in examples(metric).values()]
            gr.Examples(rows, list(inputs.values()), example_labels=list(examples(metric)), label=label)
        with gr.Accordion("Options", open=False):
            inputs[_OPTIONS] = gr.Textbox(json.dumps(options, indent=1), label=_OPTIONS, info=_KEPT["options"])
        button = gr.Button("Score", variant="primary")
        result = gr.HTML(elem_id="result", apply_default_css=False)
        label = "Signature, to quote with the number"
        signature = gr.Textbox(label=label, interactive=False, buttons=["copy"], elem_id="signature")
        picture = gr.HTML(apply_default_css=False)
        button.click(partial(_answer, spec, list(inputs)), list(inputs.values()), [result, signature, picture])
    return app


def examples(metric: str) -> dict[str, dict[str, str]]:
    """What can be clicked: a name -> texts by the arguments of the metric's function.

    Example:
        >>> [list(example) for example in examples("date_f1").values()]
        [['predictions', 'references'], ['predictions', 'references']]
    """
    return _KEPT[METRICS[metric].family]


def _fields(spec: MetricSpec) -> tuple[list[str], dict[str, Any]]:
    """The arguments that are texts, and the options with their defaults as far as these are values of JSON.

    Example:
        >>> _fields(METRICS["date_f1"])[1]["aggregate"]
        'f_of_means'
    """
    fields = [field for field in inspect.signature(spec.load()).parameters.values() if field.name not in _LEFT_OUT]
    options = {field.name: field.default for field in fields if field.kind is field.KEYWORD_ONLY}
    known = {name: value for name, value in options.items() if isinstance(value, _OF_JSON)}
    return [field.name for field in fields if field.name not in options], known


def _arguments(spec: MetricSpec, given: Mapping[str, str]) -> dict[str, Any]:
    """The function's arguments from what was typed; an empty text leaves out an argument that need not be given."""
    arguments: dict[str, Any] = {}
    for name, field in inspect.signature(spec.load()).parameters.items():
        text = given.get(name, "")
        if text or (field.default is field.empty and name in given):
            is_json = text.lstrip()[:1] in ("{", "[") and name not in spec.columns
            value = _read(name, text) if is_json else text
            arguments[name] = [value] if name in spec.columns else value
    return {**arguments, **_read(_OPTIONS, given.get(_OPTIONS) or "{}")}


def _read(name: str, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(name, None, f"text that is not JSON ({error})", "JSON") from None


def _answer(spec: MetricSpec, names: Sequence[str], *values: Any) -> tuple[str, str, str]:
    """The result, the signature and the picture, or what is wrong in the place of the result."""
    try:
        if (length := sum(len(value) for value in values if isinstance(value, str))) > _LONGEST:
            raise InputError("texts", None, f"{length:,} characters", f"at most {_LONGEST:,} in all")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            arguments = _arguments(spec, dict(zip(names, values, strict=True)))
            score = spec.load()(**arguments)
            page = _picture(spec, arguments, score)
        warned = dict.fromkeys(str(one.message) for one in caught if issubclass(one.category, UserWarning))
        return score._repr_html_() + "".join(map(_trouble, warned)), score.signature, page
    except TlsTasksError as error:
        return _trouble(str(error)), "", ""
    except Exception as error:  # a slip of ours; whoever looks at the page is told what, and the log says where
        _log.exception("%s could not be computed", spec.name)
        return _trouble(f"{type(error).__name__}: {error}"), "", ""


def _trouble(message: str) -> str:
    return f'<p class="trouble" role="alert">{html.escape(visible(message))}</p>'


def _picture(spec: MetricSpec, arguments: Mapping[str, Any], score: Score) -> str:
    """The page's picture of the document, in a frame of its own that may do nothing but draw it."""
    explained = {spec.name: score.as_dict(detailed=True)}
    for other in METRICS.values():
        if other.family == spec.family and other is not spec:  # timelines: dates and texts are drawn together
            known = inspect.signature(other.load()).parameters
            shared = {name: value for name, value in arguments.items() if name in known}
            explained[other.name] = other.load()(**shared).as_dict(detailed=True)
    task = next(iter(importlib.import_module(FAMILIES[spec.family]).TASKS.values()))
    (answer,), (reference,) = arguments["predictions"], arguments["references"]
    doc = {
        "reference": reference,
        "references": json.dumps([reference]),
        "text": (arguments.get("sources") or [""])[0],
        "options": {name: value for name, value in arguments.items() if name not in spec.columns},
    }
    page = picture_page(task, doc, answer, explained, "What the score is made of")
    return f'<iframe class="picture" sandbox="allow-scripts" title="Picture" srcdoc="{html.escape(page)}"></iframe>'
