"""One small app for all metrics, as a Space or at home: text boxes and options in, score, signature and picture out.

What is asked follows from the signature of the metric's function, its docstring and the choices that it names itself,
so that a new metric needs nothing here but two examples of its family in ``space.json``. Nothing is asked of a model.
"""

import html
import importlib
import inspect
import json
import logging
import math
import re
import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from importlib import resources
from typing import Any

from tls_tasks.after.page import asset, picture_page
from tls_tasks.core.errors import InputError, MissingExtraError, OptionError, TlsTasksError
from tls_tasks.core.score import Score
from tls_tasks.core.terminal import visible
from tls_tasks.registry import FAMILIES, METRICS, MetricSpec

_log = logging.getLogger(__name__)

_KEPT: dict[str, dict[str, Any]] = json.loads(resources.files("tls_tasks").joinpath("space.json").read_text("utf-8"))
"""The examples of each family, and what is said of ``arguments``."""

_LONGEST = 100_000  # characters of all texts together: a Space is shared

_LEFT_OUT = {"topics", "policy", "use_aggregator", "confidence_interval", "n_resamples", "seed"}
"""Arguments that mean nothing for one document, or that nobody can type."""


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
    try:
        import gradio as gr
    except ImportError:
        raise MissingExtraError("the app of a metric", "spaces") from None
    spec = METRICS[metric]
    shown, infos = examples(metric), _infos(spec)
    fields = [field for field in inspect.signature(spec.load()).parameters.values() if field.name not in _LEFT_OUT]
    texts = [field.name for field in fields if field.kind is not field.KEYWORD_ONLY]
    inputs = {}
    with gr.Blocks(title=f"{metric}: {spec.summary}", analytics_enabled=False) as app:
        gr.Markdown(f"# {metric}\n\n{spec.summary[0].upper()}{spec.summary[1:]}. Defined by: {spec.citation}.")
        top = gr.Column()
        with gr.Row():
            for name in texts:
                label, info = (name[:-1], None) if name in spec.columns else (name, infos[name])
                inputs[name] = gr.Textbox(label=label, info=info, lines=5, max_lines=20, min_width=300)
        with top:
            label = "Examples: choose one, then Score"
            rows = [[example.get(name, "") for name in texts] for example in shown.values()]
            gr.Examples(rows, list(inputs.values()), example_labels=list(shown), label=label)
        with gr.Accordion("Options", open=False), gr.Row():
            for field in fields:
                if field.name not in texts:
                    with gr.Column(min_width=260):
                        inputs[field.name] = _option(gr, spec, field, infos[field.name])
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


def _infos(spec: MetricSpec) -> dict[str, str]:
    """What the docstring of the metric's function says of each argument, without the marks of Sphinx.

    Example:
        >>> _infos(METRICS["alignment_rouge"])["variant"]
        'Which dates are aligned.'
    """
    text = (inspect.getdoc(spec.load()) or "").partition("Args:")[2].partition("\n\n")[0].replace("``", "")
    text = re.sub(r"[,;]?\s+(?:one\s+of|see)\s+:\w+:`[^`]*`", "", text)
    text = re.sub(r":\w+:`~?(?:\w+\.)*(\w+)`", r"\1", text)
    said = re.findall(r"^    (\w+): (.*(?:\n        .*)*)", text, re.MULTILINE)
    return {name: " ".join(info.split()) for name, info in said} | _KEPT["arguments"]


def _option(gr: Any, spec: MetricSpec, field: inspect.Parameter, info: str) -> Any:
    """The component for an option: a check box, a number, a choice, or else a text box for JSON."""
    default, about, kind = field.default, {"label": field.name, "info": info}, str(field.annotation)
    if isinstance(default, bool):
        return gr.Checkbox(default, **about)
    if "int" in kind or "float" in kind:
        return gr.Number(default, precision=0 if "int" in kind else None, **about)
    found = () if "Mapping" in kind else choices(spec.name, field.name, many := isinstance(default, tuple))
    if not found:
        return gr.Textbox("", **about)
    pairs = [("none" if choice is None else str(choice), choice or "") for choice in found]
    return gr.Dropdown(pairs, value=list(default) if many else default or "", multiselect=many, **about)


def choices(metric: str, option: str, many: bool = False) -> tuple[object, ...]:
    """The values of an option: what its metric answers when it is given one that it can't have. None for free values.

    Example:
        >>> choices("date_f1", "aggregate")
        ('f_of_means', 'mean_f')
    """
    arguments = _arguments(METRICS[metric], next(iter(examples(metric).values())))
    try:
        METRICS[metric].load()(**{**arguments, option: ["\0"] if many else "\0"})
    except TlsTasksError as error:
        return error.choices if isinstance(error, OptionError) else ()
    return ()


def _arguments(spec: MetricSpec, given: Mapping[str, Any]) -> dict[str, Any]:
    """The function's arguments from what was typed and chosen; what was left as it is, is left out."""
    arguments: dict[str, Any] = {}
    for name, field in inspect.signature(spec.load()).parameters.items():
        value: Any = given.get(name)
        kept = list(field.default) if isinstance(field.default, tuple) else field.default
        if field.default is not field.empty and value in ("", None, kept):
            continue
        arguments[name] = value
        if name in spec.columns:
            arguments[name] = [value]
        elif isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
            try:
                arguments[name] = json.loads(value)
            except (ValueError, RecursionError) as error:
                raise InputError(name, None, f"text that is not JSON ({error})", "JSON") from None
        elif "float" in str(field.annotation):
            arguments[name] = float(value)
    return arguments


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
        return _table(spec, score) + "".join(map(_trouble, warned)), score.signature, page
    except TlsTasksError as error:
        return _trouble(str(error)), "", ""
    except Exception as error:  # a slip of ours; whoever looks at the page is told what, and the log says where
        _log.exception("%s could not be computed", spec.name)
        return _trouble(f"{type(error).__name__}: {error}"), "", ""


def _trouble(message: str) -> str:
    return f'<p class="trouble" role="alert">{html.escape(visible(message))}</p>'


def _table(spec: MetricSpec, score: Score) -> str:
    """The numbers: first those that a prediction is judged by."""
    numbers = {key: value for key, value in score.as_dict().items() if value is None or isinstance(value, int | float)}
    rows = [
        f'<tr{" class=main" if key in spec.result_keys else ""}><th scope="row">{html.escape(visible(key))}</th>'
        f"<td>{_number(numbers[key])}</td></tr>"
        for key in sorted(numbers, key=lambda key: key not in spec.result_keys)
    ]
    return f'<table class="score" aria-label="Score">{"".join(rows)}</table>'


def _number(value: float | None) -> str:
    if value is None or math.isnan(value):
        return "undefined"
    return str(value) if isinstance(value, int) else f"{value:.4f}"


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
        "text": arguments.get("sources", [""])[0],
        "options": {name: value for name, value in arguments.items() if name not in spec.columns},
    }
    page = picture_page(task, doc, answer, explained, "What the score is made of")
    return f'<iframe class="picture" sandbox="allow-scripts" title="Picture" srcdoc="{html.escape(page)}"></iframe>'
