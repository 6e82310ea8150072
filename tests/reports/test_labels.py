"""Items of judged reports, labels of a draw, and judges corrected by them."""

import csv
import io
import random
import re

import pytest

from tests.cli.conftest import write
from tests.reports.answers import documents, requests, sample_reports
from tls_tasks.core.correction import correct
from tls_tasks.core.errors import DataError, InputError
from tls_tasks.reports.data import EMBEDDED_RECORDING
from tls_tasks.reports.judges import Recorded
from tls_tasks.reports.labels import (
    Item,
    corrections,
    draw_items,
    judged_items,
    label_sheet,
    read_items,
    read_labels,
    with_sources,
)
from tls_tasks.reports.report_eval import report_eval
from tls_tasks.reports.types import Verdict

KINDS = {"citation": "citation_support", "nugget": "nugget_coverage"}

pytestmark = pytest.mark.filterwarnings("ignore")


class Forgetful:
    """The recorded judge, without a verdict on every so many questions."""

    name = "forgetful"

    def __init__(self, every):
        self.every, self.judge = every, Recorded.read(EMBEDDED_RECORDING)

    def ask(self, queries):
        verdicts = zip(queries, self.judge.ask(queries), strict=True)
        return [Verdict(None, "timeout") if len(q.fields["sentence"]) % self.every == 0 else v for q, v in verdicts]


def means(items):
    judged = {kind: [item.verdict for key, item in items if key[0] == kind and item.verdict is not None]
              for kind in KINDS}  # fmt: skip
    return {kind: sum(verdicts) / len(verdicts) for kind, verdicts in judged.items()}


# ---- items


@pytest.mark.parametrize("every", [1000, 3])  # all verdicts; a third missing
@pytest.mark.parametrize("unread", [[], ["", "I can't."]])
def test_the_means_of_items_are_the_micro_values(every, unread):
    reports = sample_reports()
    asked = [requests()[report.request_id] for report in reports]
    score = report_eval(
        [*reports, *unread], [*asked, *asked[: len(unread)]], documents(), Forgetful(every), aggregate="micro"
    )
    found = means([item for report in score.items for item in judged_items(report.as_dict())])
    assert found == {kind: score.results[key] for kind, key in KINDS.items()}


def test_items_say_what_people_need():
    report = sample_reports("careful")[0]
    score = report_eval([report], [requests()[report.request_id]], documents(), Forgetful(1000))
    items = list(with_sources(dict(judged_items(score.items[0].as_dict())), lambda _, name: f"text of {name}").items())
    (*_, name), first = items[0]
    assert name == f"sentence 1 of careful cites {report.sentences[0].citations[0]}"
    assert first.text == report.sentences[0].text and first.source == f"text of {report.sentences[0].citations[0]}"
    (*_, name), nugget = next(pair for pair in items if pair[0][0] == "nugget")
    assert name == "nugget 1 of careful" and report.sentences[1].text in nugget.source
    assert nugget.text.startswith(requests()[report.request_id].nuggets[0].question)
    unknown = next(iter(with_sources(dict(items), lambda *_: None).values()))
    assert unknown.source.endswith(": no such document")


def test_a_judged_run_is_read_from_its_results(tmp_path):
    reports = sample_reports()
    score = report_eval(reports, [requests()[report.request_id] for report in reports], documents(), Forgetful(1000))
    place = write(tmp_path / "results.jsonl", *(item.as_dict() for item in score.items))
    beside = write(tmp_path / "verdicts.jsonl", EMBEDDED_RECORDING.read_text("utf-8").rstrip())
    items = read_items(place)
    assert read_items(beside) == items and len(items) == 74 + 96
    twice = write(tmp_path / "twice.jsonl", score.items[0].as_dict(), score.items[0].as_dict())
    with pytest.raises(DataError, match="twice"):
        read_items(twice)


def test_what_has_no_items_is_refused(tmp_path):
    with pytest.raises(DataError, match="got none, expected citations, nuggets or criteria"):
        read_items(write(tmp_path / "judge.jsonl"))
    sample = {"doc": {"doc_id": "7"}, "filtered_resps": ["Rain."]}
    for row in (
        {"kind": "negative"},
        {"ratios": 3},
        {"ratios": {}, "request_id": "7", "run_id": ""},
        sample,
        {**sample, "doc": None},
    ):
        with pytest.raises(DataError, match=r"judge\.jsonl, line 1: no judged report"):
            read_items(write(tmp_path / "judge.jsonl", row))


# ---- draws and labels


def made(n=60, per_request=4, seed=0, slip=0.2, run="a"):
    """Items with a judge's verdicts, and what people say of them, by item."""
    generator, items, people = random.Random(seed), {}, {}
    for number in range(2 * n):
        kind, request_id = list(KINDS)[number % 2], str(number // 2 // per_request)
        key, verdict = (kind, request_id, f"{kind} {number} of {run}"), generator.random() < 0.6
        items[key] = Item(f"text {number}", "", verdict)
        people[key] = verdict != (generator.random() < slip)
    return items, people


def filled(items, people, n=50, seed=1, **changes):
    """The text of a file of labels."""
    columns, *rows = label_sheet(items, n, seed)
    rows = [
        [*row[:5], changes.get(row[2].split()[1], {True: "YES", False: "NO", None: ""}[people[row[:3]]])]
        for row in rows
    ]
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows([columns, *rows])
    return file.getvalue()


def test_a_draw_depends_on_seed_and_items_alone():
    items, _ = made()
    drawn = list(draw_items(items, 20, 1))
    assert len({*drawn}) == 40 and [kind for kind, *_ in drawn] == ["citation"] * 20 + ["nugget"] * 20
    assert list(draw_items(dict(reversed(items.items())), 20, 1)) == drawn
    assert list(draw_items(items, 30, 1))[:20] == drawn[:20], "a larger draw goes on"
    assert list(draw_items(items, 20, 2)) != drawn and len(draw_items(items, 1000, 1)) == 120


def test_every_item_is_drawn_as_often():
    items, _ = made(10)
    counts = dict.fromkeys(items, 0)
    for seed in range(1000):
        for key in draw_items(items, 3, seed):
            counts[key] += 1
    assert all(240 < count < 360 for count in counts.values())  # 300 expected, standard deviation 14.5


FORMS = {
    "as written": lambda text: text,
    "by a spreadsheet": lambda text: "\ufeff" + text.replace("\n", "\r\n"),
    "with semicolons": lambda text: text.replace(",", ";"),
    "empty rows": lambda text: text + ",,,,,\n,,,,,\n",
    "ids and labels alone": lambda text: "".join(
        re.sub(r",text\b[^,]*,[^,]*,", ",", line) for line in text.splitlines(True)
    ),
    "small letters": lambda text: text.replace(",YES", ", yes ").replace(",NO", ",No"),
}


@pytest.mark.parametrize("form", FORMS)
def test_labels_are_read_back(tmp_path, form):
    items, people = made()
    people |= dict.fromkeys(list(draw_items(items, 50, 1))[:7], None)
    file = tmp_path / "labels.csv"
    file.write_bytes(FORMS[form](filled(items, people)).encode())
    assert read_labels(file, items) == {key: people[key] for key in draw_items(items, 50, 1)}


def test_an_id_behind_an_apostrophe_is_read(tmp_path):
    items = {("nugget", "=1+1", "nugget 1"): Item("text", "", True)}
    file = write(
        tmp_path / "labels.csv", *(",".join(row) for row in label_sheet(items, 1, 1)[:1]), "nugget,'=1+1,nugget 1,,,NO"
    )
    assert read_labels(file, items) == dict.fromkeys(items, False)


OTHER = {
    "another judge's": (lambda text: text, made(seed=9, run="b")[0], "line 2: got citation"),
    "no column": (lambda text: text.replace("item_id", "item", 1), None, "another judge's or report's"),
    "another report": (lambda text: text.replace("text 1", "Rain", 1), None, "another judge's or report's"),
    "a word": (lambda text: text.replace(",YES", ",perhaps", 1), None, "label: got 'perhaps'"),
    "twice": (lambda text: text + text.splitlines()[-1], None, "or comes twice"),
}


@pytest.mark.parametrize("case", OTHER)
def test_labels_of_anything_else_are_refused(tmp_path, case):
    change, other, said = OTHER[case]
    items, people = made()
    file = write(tmp_path / "labels.csv", change(filled(items, people)).rstrip("\n"))
    with pytest.raises(InputError, match=r"labels\.csv") as error:
        read_labels(file, other or items)
    assert said in str(error.value)


def test_labels_may_be_drawn_from_either_judge(tmp_path):
    (items, people), (other, _) = made(), made(seed=9, run="b")
    file = write(tmp_path / "labels.csv", filled(items, people).rstrip("\n"))
    assert read_labels(file, other, items) == read_labels(file, items)


# ---- corrections


def labelled(tmp_path, items, people, **options):
    return read_labels(write(tmp_path / "labels.csv", filled(items, people, **options).rstrip("\n")), items)


def test_a_correction_says_what_it_is_made_of(tmp_path):
    items, people = made()
    forgotten, unlabelled, *_ = draw_items(items, 50, 1)
    items[forgotten] = items[forgotten]._replace(verdict=None)
    people[unlabelled] = None
    labels = labelled(tmp_path, items, people)
    found = corrections(items, labels)
    assert found["ci_caution"] == ""
    row = {name.removeprefix("citation_support_"): value for name, value in found.items()}
    counts = {name: row[name] for name in ("labels", "empty", "unlabelled", "unjudged")}
    own = {key: item for key, item in items.items() if key[0] == "citation" and item.verdict is not None}
    known = {key: item for key, item in own.items() if labels.get(key) is not None}
    assert counts == {"labels": 48, "empty": 1, "unlabelled": 11, "unjudged": 1}
    by_hand = correct([(key[1], item.verdict, labels.get(key)) for key, item in own.items()])
    assert (row["micro_corrected"], row["micro_corrected_ci"]) == (by_hand.value, by_hand.interval)
    assert row["micro"] == sum(item.verdict for item in own.values()) / 59
    yes, no = ([item.verdict for key, item in known.items() if people[key] is label] for label in (True, False))
    assert (row["sensitivity"], row["specificity"]) == (sum(yes) / len(yes), no.count(False) / len(no))
    assert row["signature"] == "corrected:ppi++,n:48" and row["width"] == by_hand.interval.high - by_hand.interval.low


def of_kinds(items, people, n_yes, n_no, kinds=("citation",)):
    """So many labels of these kinds, and none of others."""
    drawn = draw_items(items, 50, 1)
    for kind in KINDS:
        keys = [key for key in drawn if key[0] == kind]
        said = [True] * n_yes + [False] * n_no if kind in kinds else []
        people |= dict(zip(keys, [*said, *[None] * (50 - len(said))], strict=True))
    return people


@pytest.mark.parametrize(("n_yes", "n_no"), [(24, 5), (46, 4), (4, 46), (0, 0)])
def test_too_few_labels_are_refused(tmp_path, n_yes, n_no):
    items, people = made()
    labels = labelled(tmp_path, items, of_kinds(items, people, n_yes, n_no))
    with pytest.raises(InputError, match=r"labels: got (\d+ YES and|no label).*at least"):
        corrections(items, labels)


@pytest.mark.parametrize(("n_yes", "n_no"), [(25, 5), (5, 25)])
def test_a_kind_without_labels_is_left_out(tmp_path, n_yes, n_no):
    items, people = made()
    labels = labelled(tmp_path, items, of_kinds(items, people, n_yes, n_no))
    assert not any("nugget" in name for name in corrections(items, labels))
