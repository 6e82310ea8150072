"""Stock tasks of the harness on rows of our own: their YAML, prompts, filters and metrics, asked of a tiny model.

The rows are invented, in the columns of the data set that the task names. Each configuration includes the harness's own
file, and says only where the rows are.
"""

import contextlib
import importlib.util
import io
import itertools
import json
import warnings
from pathlib import Path
from typing import NamedTuple

_TOWNS = "Alder Birch Cedar Elm Fir Hazel Larch Maple Oak Pine Rowan Yew".split()
_WARES = "bread cloth glass rope soap wine".split()
_SAYS = "Answer: 7, the baker said.\n#### 7, the baker said.\n"  # how the model goes on after a colon


class _Row(NamedTuple):
    """A town, what it makes, how much of it, and the row's place."""

    town: str
    ware: str
    n: int
    place: int

    @property
    def sentence(self):
        return f"{self.town} makes {self.n} carts of {self.ware}."

    @property
    def asked(self):
        return f"What does {self.town} make?"

    @property
    def wares(self):
        """Four wares, the town's own first."""
        start = _WARES.index(self.ware)
        return (_WARES * 2)[start : start + 4]

    @property
    def odd(self):
        return self.place % 2

    @property
    def backwards(self):
        """The sentence, in every other row backwards."""
        return self.sentence[:: 1 - 2 * self.odd]

    def pair(self, first, second):
        """Two sentences under these names, the true one first in every other row, and which one it is."""
        both = [self.sentence, self.sentence.replace(self.ware, "nothing")]
        return {first: both[self.odd], second: both[1 - self.odd], "label": self.odd}


def _hellaswag(row):
    endings = [f"sells the {ware}." for ware in row.wares]
    turn = row.place % 4
    context = {"ctx_a": row.sentence, "ctx_b": "then a man", "activity_label": "Trade [title]"}
    return {**context, "endings": endings[turn:] + endings[:turn], "label": str(-turn % 4)}


def _copa(row):
    choices = {"choice1": f"It sold {row.ware}.", "choice2": f"It sold {row.n} carts."}
    return {"premise": f"{row.town} is rich.", "question": ["cause", "effect"][row.odd], **choices, "label": row.odd}


def _truthfulqa(row):
    return {"question": row.asked, "mc2_targets": {"choices": row.wares, "labels": [1, row.odd, 0, 0]}}


def _drop(row):
    nothing = {"day": "", "month": "", "year": ""}
    answers = [{"number": str(row.n), "spans": []}, {"number": "", "spans": [f"{row.n}, the baker", "said"]}]
    others = {"number": [str(row.n)], "date": [nothing], "spans": [[row.ware]]}
    asked = {"passage": row.sentence, "question": "How many carts?"}
    answer = {**answers[row.odd], "date": nothing}
    return {"query_id": f"q{row.place}", **asked, "answer": answer, "validated_answers": others}


TASKS = {
    "arc_easy": (
        "arc/arc_easy.yaml",
        lambda row: {
            "question": row.asked,
            "choices": {"text": row.wares, "label": list("ABCD")},
            "answerKey": "ABCD"[row.place % 4],
        },
    ),
    "hellaswag": ("hellaswag/hellaswag.yaml", _hellaswag),
    "piqa": ("piqa/piqa.yaml", lambda row: {"goal": row.asked, **row.pair("sol1", "sol2")}),
    "winogrande": (
        "winogrande/default.yaml",
        lambda row: {
            "sentence": f"The {row.ware} of {row.town} went to the man because _ was near.",
            "option1": "the mill",
            "option2": f"the {row.ware} shop",
            "answer": str(1 + row.odd),
        },
    ),
    "mmlu_anatomy": (
        "mmlu/default/mmlu_anatomy.yaml",
        lambda row: {"question": row.asked, "choices": row.wares, "answer": row.place % 4},
    ),
    "truthfulqa_mc2": ("truthfulqa/truthfulqa_mc2.yaml", _truthfulqa),
    "crows_pairs_english": ("crows_pairs/crows_pairs_english.yaml", lambda row: row.pair("sent_more", "sent_less")),
    "boolq": (
        "super_glue/boolq/default.yaml",
        lambda row: {"passage": row.sentence, "question": f"does {row.town} make it", "label": row.odd},
    ),
    "copa": ("super_glue/copa/default.yaml", _copa),
    "cb": ("super_glue/cb/default.yaml", lambda row: {**row.pair("premise", "hypothesis"), "label": row.place % 3}),
    "rte": ("glue/rte/default.yaml", lambda row: row.pair("sentence1", "sentence2")),
    "mrpc": ("glue/mrpc/default.yaml", lambda row: row.pair("sentence1", "sentence2")),
    "cola": ("glue/cola/default.yaml", lambda row: {"sentence": row.backwards, "label": 1 - row.odd}),
    "lambada_openai": ("lambada/lambada_openai.yaml", lambda row: {"text": f"{row.sentence} It is {row.ware}"}),
    "wikitext": (
        "wikitext/wikitext.yaml",
        lambda row: {"page": " = Town = \n " + f"{row.sentence} \n " * (1 + row.place % 3)},
    ),
    "gsm8k": (
        "gsm8k/gsm8k.yaml",
        lambda row: {"question": f"4 and {row.n - 4} are?", "answer": f"They are {row.n}.\n#### {row.n}"},
    ),
    "triviaqa": (
        "triviaqa/default.yaml",
        lambda row: {"question": row.asked, "answer": {"aliases": [f"{row.n}", f"{row.n} carts"]}},
    ),
    "nq_open": ("nq_open/nq_open.yaml", lambda row: {"question": row.asked, "answer": [f"{row.n}", "many"]}),
    "drop": ("drop/default.yaml", _drop),
    "wmt16-de-en": (
        "translation/wmt16_de-en.yaml",
        lambda row: {"translation": {"de": f"{row.n}, sagte er.", "en": f"{row.n}, the baker of {row.town} said."}},
    ),
    "simple_cooccurrence_bias_gen": (
        "simple_cooccurrence_bias/simple_cooccurrence_bias_gen.yaml",
        lambda row: {"sentence": f"{row.sentence} The baker was a" + " man" * row.odd},
    ),
    "super_glue-multirc-t5-prompt": (
        "super_glue/multirc/t5-prompt.yaml",
        lambda row: {
            "question": row.asked,
            "answer": row.ware,
            "paragraph": row.sentence,
            "idx": {"question": row.place // 2},
            "label": row.odd,
        },
    ),
}
"""Task -> the harness's file below ``lm_eval/tasks``, and what makes a row."""


def make_model(folder, texts):
    """A checkpoint whose next word follows from the last one as in a few lines of text, with some noise of the rest."""
    import torch
    import transformers

    from tests.harness_parts import make_tiny_model

    make_tiny_model(folder, (*texts, *[_SAYS] * 3), n_words=1200, context=1024)
    words = transformers.AutoTokenizer.from_pretrained(folder)
    config = transformers.GPT2Config.from_pretrained(
        folder, n_embd=128, n_layer=1, initializer_range=0.05, tie_word_embeddings=False
    )
    torch.manual_seed(7)
    model = transformers.GPT2LMHeadModel(config)
    weights = model.transformer.wte.weight.data
    torch.nn.init.normal_(weights)
    for before, after in itertools.pairwise(words(_SAYS * 2 + "is a man.\n").input_ids):
        model.lm_head.weight.data[after] += weights[before] / 10
    model.save_pretrained(folder)


def make_run(folder):
    """Run all tasks with the tiny model; the harness's own files lie below ``folder/out``."""
    import lm_eval
    import pyarrow as pa
    import pyarrow.parquet
    from lm_eval.loggers import EvaluationTracker
    from lm_eval.tasks import TaskManager

    (package,) = importlib.util.find_spec("lm_eval").submodule_search_locations
    texts = []
    for name, (path, make) in TASKS.items():
        data = folder / "data" / f"{name}.parquet"
        data.parent.mkdir(exist_ok=True)
        rows = [make(_Row(town, _WARES[place % 6], 6 + place % 3, place)) for place, town in enumerate(_TOWNS)]
        pa.parquet.write_table(pa.Table.from_pylist(rows), data)
        texts += [Path(package, "tasks", path).read_text(), *map(str, rows)]
        files = dict.fromkeys(("train", "validation", "test", "dev"), str(data))
        config = {
            "include": str(Path(package, "tasks", path)),
            "task": name,
            "dataset_path": "parquet",
            "dataset_name": None,
            "dataset_kwargs": {"data_files": files},
        }
        (folder / "tasks").mkdir(exist_ok=True)
        (folder / "tasks" / f"{name}.yaml").write_text(json.dumps(config))
    make_model(folder / "model", texts)
    tracker = EvaluationTracker(output_path=str(folder / "out"))
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        results = lm_eval.simple_evaluate(
            model="hf",
            model_args={"pretrained": str(folder / "model")},
            tasks=list(TASKS),
            task_manager=TaskManager(include_path=str(folder / "tasks"), include_defaults=False),
            evaluation_tracker=tracker,
            device="cpu",
            batch_size=64,
            gen_kwargs={"max_gen_toks": 16},
            bootstrap_iters=0,
            log_samples=True,
        )
    samples = results.pop("samples")
    tracker.save_results_aggregated(results=results, samples=samples)
    for name, rows in samples.items():
        tracker.save_results_samples(task_name=name, samples=rows)


def table(folder):
    """The page's table: what each task reports, and whether it was made again."""
    from tls_tasks.after.scored_runs import read_runs
    from tls_tasks.hosts.registered import registered_aggregation

    lines = [
        "| task | output | metrics: how they are made of the documents' values | made again |",
        "|---|---|---|---|",
    ]
    runs = {run.name: run for run in read_runs([folder / "out"])}
    for name in TASKS:
        run, made = runs[name], {"yes": [], "no": []}
        told = []
        for key, logged in run.logged.items():
            own = registered_aggregation(key.partition(",")[0], logged.aggregation)
            told.append(f"`{key}`: {own[0] if own else f'`{logged.aggregation}`, its own function'}")
            again = abs(run.metrics.get(key, float("nan")) - logged.reported) <= 1e-9 * max(1, abs(logged.reported))
            made["yes" if again else "no"].append(f"`{key}`")
        output = run.results["configs"][name]["output_type"]
        said = "yes" if not made["no"] else f"not {', '.join(made['no'])}" if made["yes"] else "no"
        lines.append(f"| `{name}` | {output} | {'; '.join(told)} | {said} |")
    return "\n".join(lines) + "\n"
