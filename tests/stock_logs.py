"""Logs of real runs of other people's tasks: the harness's stock tasks over Parquet made here, and one of Inspect."""

import hashlib
import json
import random
from pathlib import Path

STOCK = {  # task -> its file in the harness
    "arc_easy": "arc/arc_easy.yaml",
    "gsm8k": "gsm8k/gsm8k.yaml",
    "mrpc": "glue/mrpc/default.yaml",
    "cola": "glue/cola/default.yaml",
    "wikitext": "wikitext/wikitext.yaml",
    "wmt16-de-en": "translation/wmt16_de-en.yaml",
}
N = 40
NOUNS = "cat river lamp stone violin harbour engine garden letter mirror window bridge".split()
VERBS = "sees finds carries paints forgets repairs follows hears".split()


def sentence(generator):
    return f"The {generator.choice(NOUNS)} {generator.choice(VERBS)} the {generator.choice(NOUNS)} ."


def questions(n=N):
    """Sums in words, with their answers; what the harness and Inspect are both asked."""
    generator = random.Random(1)
    for place in range(n):
        boxes, each, more = (generator.randint(2, 30) for _ in range(3))
        asked = (
            f"Box {place}: {boxes} boxes hold {each} {generator.choice(NOUNS)}s each, and {more} lie beside them. Sum?"
        )
        yield asked, boxes * each + more


def rows_of(task, n=N):
    generator = random.Random(task)
    if task == "arc_easy":
        for place in range(n):
            named = generator.sample(NOUNS, 4)
            choices = {"text": named, "label": list("ABCD")}
            asked = f"Number {place}: what {generator.choice(VERBS)} the {generator.choice(NOUNS)}?"
            yield {"id": f"Q{place}", "question": asked, "choices": choices, "answerKey": generator.choice("ABCD")}
    elif task == "gsm8k":
        for asked, answer in questions(n):
            yield {"question": asked, "answer": f"It is counted.\n#### {answer}"}
    elif task in ("mrpc", "cola"):
        names = ("sentence1", "sentence2") if task == "mrpc" else ("sentence",)
        for place in range(n):
            yield {
                **{name: sentence(generator) for name in names},
                "label": int(generator.random() < 0.6),
                "idx": place,
            }
    elif task == "wikitext":
        for _ in range(n):
            yield {"page": " \n ".join(sentence(generator) for _ in range(generator.randint(2, 9)))}
    else:
        for _ in range(n):
            told = " ".join(sentence(generator) for _ in range(2))
            yield {"translation": {"de": told.upper(), "en": told}}


def write_tasks(folder, tasks=tuple(STOCK), n=N):
    """The stock tasks' own files, included, with their data on this disk; returns the folder to include."""
    import datasets
    import lm_eval.tasks

    stock = Path(lm_eval.tasks.__file__).parent
    folder.mkdir(parents=True, exist_ok=True)
    for task in tasks:
        data = folder / f"{task}.parquet"
        datasets.Dataset.from_list(list(rows_of(task, n))).to_parquet(data)
        splits = dict.fromkeys(("train", "validation", "test"), str(data))
        lines = [
            f"include: {stock / STOCK[task]}",
            f"task: {task}",
            "dataset_path: parquet",
            "dataset_name: null",
            f"dataset_kwargs: {json.dumps({'data_files': splits})}",
        ]
        (folder / f"{task}.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


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
            found = []
            for request in requests:
                asked, said = request.args
                doc = request.doc
                wanted = doc["label"] if "label" in doc else "ABCD".index(doc["answerKey"])
                right = knows(seed, skill, asked) and request.idx == wanted
                found.append((-5.0 * chance(seed, asked, said) + 5.0 * right, False))
            return found

        def loglikelihood_rolling(self, requests):
            return [-len(request.args[0]) * (2 - skill + 0.3 * chance(seed, request.args[0])) for request in requests]

        def generate_until(self, requests):
            return [self.say(request) for request in requests]

        def say(self, request):
            doc, asked = request.doc, request.args[0]
            if "translation" in doc:
                words = doc["translation"]["en"].split()
                return " ".join(word if knows(seed, skill, word + asked) else "thing" for word in words)
            answer = doc["answer"].rpartition(" ")[2]
            if not knows(seed, skill, doc["question"]):
                answer = str(int(answer) + 1)
            # Every third answer is in a form that only one of the task's two filters reads.
            return f"So {answer}" if chance(seed, "form", asked) < 0.33 else f"#### {answer}"

    return Rules()


def make_stock_runs(folder, systems=None, tasks=tuple(STOCK), n=N):
    """``folder/NAME``: what lm_eval writes of each system, NAME -> (seed, skill)."""
    import contextlib
    import io
    import warnings

    import lm_eval
    from lm_eval.loggers import EvaluationTracker
    from lm_eval.tasks import TaskManager

    manager = TaskManager(include_path=str(write_tasks(folder / "tasks", tasks, n)), include_defaults=False)
    for name, (seed, skill) in (systems or {"a": ("a", 0.5), "b": ("b", 0.6)}).items():
        tracker = EvaluationTracker(output_path=str(folder / name))
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            results = lm_eval.simple_evaluate(
                model=rule_model(seed, skill),
                tasks=list(tasks),
                task_manager=manager,
                evaluation_tracker=tracker,
                log_samples=True,
                bootstrap_iters=0,
            )
        samples = results.pop("samples")
        tracker.save_results_aggregated(results=results, samples=samples)
        for task, rows in samples.items():
            tracker.save_results_samples(task_name=task, samples=rows)
