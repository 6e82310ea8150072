"""The one base of ``metrics/*``: a scorer of this package as a module of Hugging Face evaluate.

A shell imports this module, never the class: evaluate takes the first metric class in a shell's namespace for the
shell.
"""

import importlib
import inspect
from typing import Any, ClassVar

import datasets
import evaluate

from tls_tasks.core.errors import check_options, check_switches
from tls_tasks.core.rows import pack_columns, unpack_column
from tls_tasks.registry import METRICS


class Module(evaluate.Metric):
    """Takes rows in any form that the scorer takes, and gives the scorer's ``as_dict()``.

    Attributes of a shell: its docstring (the description, and examples that run), ``metric``, ``citation_text``,
    ``urls``.
    """

    metric: ClassVar[str]
    citation_text: ClassVar[str] = ""
    urls: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        """Give the shell the signature of its scorer: evaluate's own tests forbid ``**kwargs``."""
        super().__init_subclass__()

        def compute(self: Module, **columns_and_options: Any) -> dict[str, Any]:
            return self._score(**columns_and_options)

        scorer = inspect.signature(METRICS[cls.metric].load())
        detailed = inspect.Parameter("detailed", inspect.Parameter.KEYWORD_ONLY, default=False, annotation="bool")
        self_ = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
        signature = scorer.replace(parameters=[self_, *scorer.parameters.values(), detailed])
        compute.__signature__ = signature  # type: ignore[attr-defined]
        cls._compute = compute

    def _info(self) -> evaluate.MetricInfo:
        description, _, examples = inspect.cleandoc(self.__doc__ or "").partition("Examples:\n")
        return evaluate.MetricInfo(
            description=description,
            citation=self.citation_text,
            inputs_description=f"\n{self._options_text()}\n\nExamples:\n{examples}",
            # Strings only: rows are packed as JSON, since Arrow would change or refuse many of them.
            features=datasets.Features(dict.fromkeys(METRICS[self.metric].columns, datasets.Value("string"))),
            reference_urls=list(self.urls),
        )

    def _options_text(self) -> str:
        """The scorer's own words on its arguments and results, with ``detailed``."""
        text = inspect.getdoc(METRICS[self.metric].load()) or ""
        arguments, _, rest = text[text.index("Args:") :].partition("\n\nReturns:")
        returns = rest.partition("\n\nRaises:")[0]
        return f"{arguments}\n    detailed: Also return what explains the numbers.\n\nReturns:{returns}"

    def add(self, *, prediction: Any = None, reference: Any = None, **columns: Any) -> None:
        """Add one row, in any form that ``compute`` takes; further columns under their own names."""
        self.add_batch(predictions=[prediction], references=[reference], **{name: [columns[name]] for name in columns})

    def add_batch(self, *, predictions: Any = None, references: Any = None, **columns: Any) -> None:
        """Add rows, in any form that ``compute`` takes; a row that cannot be scored is refused here."""
        metric = METRICS[self.metric]
        rows = importlib.import_module(metric.rows)
        given = {**dict.fromkeys(metric.columns), "predictions": predictions, "references": references, **columns}
        evaluate.Metric.add_batch(self, **pack_columns(given, rows.check_row, rows.to_plain))

    def compute(self, *, predictions: Any = None, references: Any = None, **options: Any) -> dict[str, Any] | None:
        """Score the given rows, or those that were added; see the module's description for the options."""
        columns = {**dict.fromkeys(METRICS[self.metric].columns), "predictions": predictions, "references": references}
        known = [name for name in inspect.signature(type(self)._compute).parameters if name not in ("self", *columns)]
        check_options(self.metric, options.keys() - columns.keys(), known)
        result: dict[str, Any] | None = evaluate.Metric.compute(self, **{**columns, **options})
        return result

    def _score(self, detailed: bool = False, **columns_and_options: Any) -> dict[str, Any]:
        check_switches(detailed=detailed)
        metric = METRICS[self.metric]
        columns = {name: unpack_column(columns_and_options.pop(name)) for name in metric.columns}
        return dict(metric.load()(**columns, **columns_and_options).as_dict(detailed=detailed))
