"""Stock tasks of the harness on rows of our own: their YAML, prompts, filters and metrics, asked of two kinds of model.

The rows are invented, in the columns of the data set that the task names. Each configuration includes the harness's own
file, and says only where the rows are.
"""

import hashlib
import importlib.util
import itertools
import json
from pathlib import Path

from tests import made_runs

_TOWNS = "Alder Birch Cedar Elm Fir Hazel Larch Maple Oak Pine Rowan Yew".split()
_WARES = "bread cloth glass rope soap wine".split()
_SAYS = "Answer: 7, the baker said.\n#### 7, the baker said.\n"  # how the tiny model goes on after a colon

TASKS = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
"""Task -> the harness's file below ``lm_eval/tasks``."""


def row_of(place):
    """Task -> its row at a place: all say what a town makes, and how much of it."""
    town = _TOWNS[place % 12] + "wood" * (place // 12)
    ware, n, odd = _WARES[place % 6], 6 + place % 3, place % 2
    wares = (_WARES * 2)[place % 6 :][:4]  # the town's own first
    sentence, asked = f"{town} makes {n} carts of {ware}.", f"What does {town} make?"

    def pair(first, second):
        """Two sentences under these names, the true one first in every other row, and which one it is."""
        both = [sentence, sentence.replace(ware, "nothing")]
        return {first: both[odd], second: both[1 - odd], "label": odd}

    lettered = {"text": wares, "label": list("ABCD")}
    turn, endings = place % 4, [f"sells the {ware}." for ware in wares]
    context = {"ctx_a": sentence, "ctx_b": "then a man", "activity_label": "Trade [title]"}
    near = f"The {ware} of {town} went to the man because _ was near."
    sold = {"choice1": f"It sold {ware}.", "choice2": f"It sold {n} carts."}
    passage = {"query_id": f"q{place}", "passage": sentence, "question": "How many carts?"}
    day = {"day": "", "month": "", "year": ""}
    answers = [{"number": str(n), "spans": []}, {"number": "", "spans": [f"{n}, the baker", "said"]}]
    others = {"number": [str(n)], "date": [day], "spans": [[ware]]}
    paragraph = {"paragraph": sentence, "question": asked, "answer": ware}
    return {
        "arc_easy": {"question": asked, "choices": lettered, "answerKey": "ABCD"[place % 4]},
        "hellaswag": {**context, "endings": endings[turn:] + endings[:turn], "label": str(-turn % 4)},
        "piqa": {"goal": asked, **pair("sol1", "sol2")},
        "winogrande": {"sentence": near, "option1": "the mill", "option2": f"the {ware} shop", "answer": str(1 + odd)},
        "mmlu_anatomy": {"question": asked, "choices": wares, "answer": place % 4},
        "truthfulqa_mc2": {"question": asked, "mc2_targets": {"choices": wares, "labels": [1, odd, 0, 0]}},
        "crows_pairs_english": pair("sent_more", "sent_less"),
        "boolq": {"passage": sentence, "question": f"does {town} make it", "label": odd},
        "copa": {"premise": f"{town} is rich.", "question": ["cause", "effect"][odd], **sold, "label": odd},
        "cb": {**pair("premise", "hypothesis"), "label": place % 3},
        "rte": pair("sentence1", "sentence2"),
        "mrpc": pair("sentence1", "sentence2"),
        "cola": {"sentence": sentence[:: 1 - 2 * odd], "label": 1 - odd},  # in every other row backwards
        "lambada_openai": {"text": f"{sentence} It is {ware}"},
        "wikitext": {"page": " = Town = \n " + f"{sentence} \n " * (1 + place % 3)},
        "gsm8k": {"question": f"In {town}, 4 and {n - 4} are?", "answer": f"They are {n}.\n#### {n}"},
        "triviaqa": {"question": asked, "answer": {"aliases": [f"{n}", f"{n} carts"]}},
        "nq_open": {"question": asked, "answer": [f"{n}", "many"]},
        "drop": {**passage, "answer": {**answers[odd], "date": day}, "validated_answers": others},
        "wmt16-de-en": {"translation": {"de": f"{n}, sagte er in {town}.", "en": f"{n}, the baker of {town} said."}},
        "simple_cooccurrence_bias_gen": {"sentence": f"{sentence} The baker was a" + " man" * odd},
        "super_glue-multirc-t5-prompt": {**paragraph, "idx": {"question": place // 2}, "label": odd},
    }


def write_tasks(folder, names, n):
    """A configuration of each task, with ``n`` rows on this disk; returns the texts of them all."""
    import pyarrow as pa
    import pyarrow.parquet

    folder.mkdir(parents=True)
    (package,) = importlib.util.find_spec("lm_eval").submodule_search_locations
    texts = []
    for name in names:
        data, path = folder / f"{name}.parquet", Path(package, "tasks", TASKS[name])
        rows = [row_of(place)[name] for place in range(n)]
        pa.parquet.write_table(pa.Table.from_pylist(rows), data)
        texts += [path.read_text(), *map(str, rows)]
        files = dict.fromkeys(("train", "validation", "test", "dev"), str(data))
        config = {"include": str(path), "task": name, "dataset_path": "parquet", "dataset_name": None}
        (folder / f"{name}.yaml").write_text(json.dumps({**config, "dataset_kwargs": {"data_files": files}}))
    return texts


def make_run(folder):
    """Run all tasks with a tiny model; the harness's own files lie below ``folder/out``."""
    texts = write_tasks(folder / "tasks", TASKS, len(_TOWNS))
    make_model(folder / "model", texts)
    options = {"device": "cpu", "batch_size": 64, "gen_kwargs": {"max_gen_toks": 16}, "bootstrap_iters": 0}
    model = {"model_args": {"pretrained": str(folder / "model")}, "configs": folder / "tasks"}
    made_runs.make_run(folder / "out", "hf", list(TASKS), **model, **options)


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


SIX = ("arc_easy", "gsm8k", "mrpc", "cola", "wikitext", "wmt16-de-en")
N = 40


def make_two_runs(folder):
    """``a`` and ``b``, which is better: real runs of the rule model on six tasks of 40 documents."""
    write_tasks(folder / "tasks", SIX, N)
    for name, skill in (("a", 0.5), ("b", 0.6)):
        options = {"configs": folder / "tasks", "bootstrap_iters": 0}
        made_runs.make_run(folder / name, rule_model(name, skill), list(SIX), **options)


def chance(*parts):
    """A number in [0, 1) that is the same on every machine."""
    return int.from_bytes(hashlib.sha256(repr(parts).encode()).digest()[:7], "big") / 2**56


def knows(seed, skill, text):
    """Whether a model has a right answer: documents are as hard for all models, and each has its luck."""
    return (chance("hard", text) + chance(seed, text)) / 2 < skill


def rule_model(seed, skill):
    """A model of the harness's that knows a share of the answers, and gives other ones to the rest."""
    from lm_eval.api.model import LM

    class Rules(LM):
        def loglikelihood(self, requests):
            return [(self.likelihood(request.doc, request.idx, *request.args), False) for request in requests]

        def likelihood(self, doc, choice, asked, said):
            wanted = doc["label"] if "label" in doc else "ABCD".index(doc["answerKey"])
            return -5.0 * chance(seed, asked, said) + 5.0 * (knows(seed, skill, asked) and choice == wanted)

        def loglikelihood_rolling(self, requests):
            return [-len(request.args[0]) * (2 - skill + 0.3 * chance(seed, request.args[0])) for request in requests]

        def generate_until(self, requests):
            return [self.say(request.doc, request.args[0]) for request in requests]

        def say(self, doc, asked):
            if "translation" in doc:
                words = doc["translation"]["en"].split()
                return " ".join(word if knows(seed, skill, word + asked) else "thing" for word in words)
            answer = int(doc["answer"].rpartition(" ")[2]) + (not knows(seed, skill, doc["question"]))
            # Every third answer is in a form that only one of the task's two filters reads.
            return f"So {answer}" if chance(seed, "form", asked) < 0.33 else f"#### {answer}"

    return Rules()


def table(folder):
    """The page's table: what each task reports, and what of it is compared as the mean of documents."""
    from tls_tasks.after.scored_runs import read_runs
    from tls_tasks.hosts.registered import registered_aggregation

    lines = [
        "| task | output | metrics: how they are made of the documents' values | compared as mean of documents |",
        "|---|---|---|---|",
    ]
    runs = {run.name: run for run in read_runs([folder / "out"])}
    for name in TASKS:
        run, told, alone = runs[name], [], []
        for key, logged in run.logged.items():
            own = registered_aggregation(key.partition(",")[0], logged.aggregation)
            told.append(f"`{key}`: {own[0] if own else f'`{logged.aggregation}`, its own function'}")
            if key not in run.metrics:
                alone.append(f"`{key}`" if f"{key} (mean of documents)" in run.metrics else f"`{key}` left out")
        output = run.results["configs"][name]["output_type"]
        lines.append(f"| `{name}` | {output} | {'; '.join(told)} | {', '.join(alone)} |")
    return "\n".join(lines) + "\n"
