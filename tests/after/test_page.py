"""The page in a real browser: real runs, a desk and a phone, light and dark, hostile texts, many documents."""

import csv
import json
import re
import shutil
from pathlib import Path

import pytest

from tests.after.conftest import change_rows, put
from tls_tasks.after.comparisons import System, compare_systems
from tls_tasks.after.meta import references_among_themselves
from tls_tasks.after.page import asset, labels, page
from tls_tasks.after.scored_runs import read_runs, references_of, score_places
from tls_tasks.cli import main
from tls_tasks.core.errors import TlsTasksError
from tls_tasks.registry import define
from tls_tasks.timelines.task import TASKS

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

HOSTILE = [
    "</script><script>document.title = 'broken'</script>",
    "<img src=x onerror=\"document.title = 'broken'\">",
    "<!-- <script> --> \u2028 \u2029 \x00 \x1b[31m",
    "javascript:alert(1) {{7*7}} ${7*7} &lt;b&gt; &amp;",
    "\ud800 lone, \u202e right to left \u202d, " + "Z\u0351\u036b" * 200,
    "x" * 20_000,
    "<style>body { display: none }</style><base href='http://127.0.0.1:1/'>",
    "__proto__",
]
A, B = "CUSTOM (base)", "CUSTOM (noisy)"


@pytest.fixture(scope="module")
def report(made_runs, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "page.html"
    assert main(["page", str(made_runs), "-o", str(path)]) == 0
    return path


@pytest.fixture(scope="module")
def scored(made_runs):
    """(run, task) -> the scored task."""
    return {(name, one.name): one for name in ("base", "noisy") for one in score_places([made_runs / name])}


def open_document(page, task, name):
    """Choose a task and one of its documents, with the scores of one run."""
    if page.locator("#task").count():
        page.select_option("#task", label=task)
    page.select_option("#other", label="no other run")
    page.fill("#words", name)
    page.locator("#list .row", has=page.locator(f".name > span:text-is('{name}')")).click()
    return page


def hostile_rows(n_documents):
    """A samples file of made-up timelines whose texts try to break out."""
    for number in range(n_documents):
        bad, day = HOSTILE[number % len(HOSTILE)], f"2011-01-{1 + number % 28:02}"
        reference = json.dumps([{"date": day, "text": [f"Protests {bad}"]}])
        doc = {"doc_id": f"{bad[:300]}/{number}", "topic": bad[:300], "reference": reference}
        yield {"doc_id": number, "doc": doc, "filtered_resps": [f"{day}: Protests {bad}"], "filter": "none"}


def write_page(folder, rows):
    samples = folder / "samples_tls_crisis_2026-01-01T00-00-00.jsonl"
    samples.write_text("".join(json.dumps(row) + "\n" for row in rows))
    path = folder / "page.html"
    path.write_text(page(list(score_places([samples]))), encoding="utf-8")
    return path


def width_beyond_the_screen(page):
    return page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")


def test_a_metric_says_what_it_is_on_hover_and_focus(report, open_page):
    opened = open_page(report)
    page, tip = opened.page, opened.page.locator("#definition")
    page.select_option("#task", label="summ_dialogsum")
    assert tip.is_hidden()
    for name in (page.locator(".lead [data-means]"), page.locator(".scores [data-means]").nth(1)):
        for show in (name.hover, name.focus):
            show()
            assert tip.inner_text() == define(name.inner_text())
            assert name.get_attribute("aria-describedby") == "definition"
            page.keyboard.press("Escape")
            assert tip.is_hidden()
    page.locator(".lead [data-means]").focus()
    assert opened.violations() == [] and opened.errors == []


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_every_family_at_two_widths(report, open_page, width, dark):
    opened = open_page(report, width, dark)
    page = opened.page
    for task in page.locator("#task option").all_inner_texts():
        page.select_option("#task", label=task)
        assert page.locator("#list .row").count() >= 3 and page.locator("#view h2").inner_text()
        page.evaluate("document.querySelectorAll('details').forEach((node) => { node.open = true; })")
        assert opened.violations("#view") == [] and width_beyond_the_screen(page) <= 0
    assert opened.violations() == []  # what is around the views, once
    picture = page.screenshot(full_page=True)
    assert int.from_bytes(picture[16:20], "big") == width and len(picture) > 20_000, "as wide as the screen, not blank"
    assert opened.errors == [] and opened.requests == [report.as_uri()] and page.title().endswith(" tasks")
    if width == 390:
        below = page.locator("#list").bounding_box()["y"]
        assert page.locator("#versus").bounding_box()["y"] > below, "on a phone the list is before the scatter"


def test_the_head_shows_what_was_reported_and_what_compare_says(report, scored, open_page):
    page = open_page(report).page
    for task in page.locator("#task option").all_inner_texts():
        page.select_option("#task", label=task)
        base, noisy = scored["base", task], scored["noisy", task]
        key = base.task.headline
        rows = page.locator(".forest tr.here")
        assert rows.count() == 2 and page.locator("#metric").input_value() == key
        for row, run in zip(rows.all(), (base, noisy), strict=True):
            interval = run.intervals()[key]
            text = row.inner_text()
            assert f"{run.metrics[key]:.3f}" in text and f"{interval.low:.3f} to {interval.high:.3f}" in text
            assert row.locator(".whisker.doubtful").count() == int(not interval.is_trusted)
        said = page.locator(".lead").inner_text()
        [test] = compare_systems([System("a", {task: base}), System("b", {task: noisy})])
        found = test.metrics[key]
        assert f"wins {found.losses}, ties {found.ties} and loses {found.wins} of" in said
        assert f"{abs(found.result.difference):.3f}" in said or "level with" in said
        if found.result.interval:
            low, high = sorted(-end for end in found.result.interval)
            assert f"{abs(low):.3f} to" in said and f"{abs(high):.3f}, p" in said


def test_references_among_themselves_stand_below_the_runs(report, open_page):
    """As `tls-tasks meta --references` has them; where each document has one reference there is no row."""
    page = open_page(report).page
    for task in ("tls_crisis", "tls_timeline17", "summ_dialogsum", "summ_qmsum", "tree_extraction"):
        page.select_option("#task", label=task)
        rows = page.locator(".forest tr", has_text="people against people").all_inner_texts()
        metric = page.locator("#metric").input_value()
        try:
            means = references_among_themselves(task, edition="embedded")["mean_of_topics"]
        except TlsTasksError:
            assert task in {"summ_qmsum", "tree_extraction"} and len(rows) == 3
        else:
            assert any(f"{means[metric]:.3f}" in row for row in rows), rows


def test_runs_with_other_references_have_none_among_themselves(made_runs, tmp_path):
    [samples] = made_runs.glob("base/**/samples_tls_crisis_*")
    copy = shutil.copyfile(samples, tmp_path / samples.name)
    assert references_of(runs := list(read_runs([samples, copy])))["values"] and len(runs) == 2
    change_rows(copy, put(0, "target", value="other"))
    assert references_of(list(read_runs([samples, copy]))) == {}
    change_rows(copy, put(0, "doc", "reference", value="{"))
    assert references_of(list(read_runs([copy]))) == {}


def test_sorting_filtering_and_walking(report, scored, open_page):
    page = open_page(report).page
    page.select_option("#task", label="tls_crisis")
    page.select_option("#other", label="no other run")
    shown = lambda: [float(text) for text in page.locator("#list .row .figure").all_inner_texts()]  # noqa: E731
    assert shown() == sorted(shown()) and len(set(shown())) > 1
    page.click(".sort button")
    assert shown() == sorted(shown(), reverse=True)
    page.fill("#words", "egypt/")
    assert page.locator("#list .row").count() == 2 and page.locator("#count").inner_text() == "2 of 8 documents"
    page.locator("#list").focus()
    page.keyboard.press("Home")
    first = page.locator("#view h2").inner_text()
    assert page.get_by_label("Previous document").is_disabled()
    page.keyboard.press("j")
    assert page.locator("#view h2").inner_text() != first and page.get_by_label("Next document").is_disabled()
    page.uncheck("#keys")
    page.keyboard.press("k")
    assert page.locator("#view h2").inner_text() != first, "the keys are off"
    page.keyboard.press("Enter")
    page.fill("#words", "")
    lowest = min(scored["base", "tls_crisis"].of_document(at)["ar1_f1"] for at in range(8))
    page.locator(".bins label:not(.every):has(span:not([style*=' 0px']))").first.click()
    assert 0 < len(shown()) < 8 and min(shown()) == pytest.approx(lowest, abs=5e-4)
    page.select_option("#metric", label="date_f1")
    assert page.locator(".scores dt").first.inner_text() == "date_f1"


def explained_of(scored, task):
    run = scored["base", task]
    sample = run.log.samples[0]
    return sample, run.explain(sample)


def test_the_picture_of_a_timeline(report, scored, open_page):
    """Knots, lines and the marked words are those of the detailed result; hover and focus light up a pair."""
    _, explained = explained_of(scored, "tls_crisis")
    alignment = explained["alignment_rouge"]["items"][0]["alignment"]
    matches = explained["date_f1"]["items"][0]["matches"]
    page = open_document(open_page(report).page, "tls_crisis", scored["base", "tls_crisis"].ids[0])
    for side in ("precision", "recall"):
        assert page.locator(f".links .{side}").count() == len(alignment[side]) > 0
        assert page.locator(f".strip .link.{side}").count() == len(alignment[side])
    assert page.locator(".strip .knot:not(.free)").count() == 2 * len(matches) > 0
    assert page.locator(".day mark").count() > 0
    pair = alignment["precision"][0]
    entry = page.locator(f".entry.predicted[data-day='{pair['predicted']}']")
    assert f"{pair['hits']:g} word" in entry.inner_text() and f"weight {pair['weight']:.2f}" in entry.inner_text()
    entry.focus()
    lit = page.locator(".entry.on").evaluate_all("nodes => nodes.map((node) => [node.dataset.side, node.dataset.day])")
    assert ["reference", pair["reference"]] in lit and ["predicted", pair["predicted"]] in lit
    page.locator(".links .link:not([d])").first.wait_for(state="detached")  # they are led from knot to knot
    page.locator("h1").hover()
    page.evaluate("document.activeElement.blur()")
    assert page.locator(".entry.on").count() == 0


def test_the_picture_of_extracted_objects(report, scored, open_page):
    sample, explained = explained_of(scored, "evidence_journals")
    item = explained["evidence_extraction"]["items"][0]
    page = open_document(open_page(report).page, "evidence_journals", sample.doc["doc_id"])
    text = page.locator(".evidence .prose").first
    assert (
        text.evaluate("node => [...node.childNodes].map((n) => n.firstChild?.textContent ?? n.textContent).join('')")
        == (sample.doc["text"])
    )
    counts = {"hit": "matches", "miss": "misses", "spurious": "spurious"}
    assert {kind: page.locator(f".card.{kind}").count() for kind in counts} == {
        kind: len(item[key]) for kind, key in counts.items()
    }
    number = page.locator(".card.miss .n").first.inner_text()
    page.locator(".card.miss").first.hover()
    assert page.locator("mark.on").first.get_attribute("data-all").split().count(number) == 1


def test_the_picture_of_a_cited_report(report, scored, open_page):
    sample, explained = explained_of(scored, "report_generation")
    sentences = explained["report_eval"]["items"][0]["sentences"]
    page = open_document(open_page(report).page, "report_generation", sample.doc["doc_id"])
    shown = page.locator(".said")
    assert shown.count() == len(sentences) == page.locator(".bead").count() > 3
    for one, sentence in zip(shown.all(), sentences, strict=True):
        assert one.locator(".prose").inner_text() == sentence["text"]
        assert one.locator(".step").all_inner_texts() == [step.replace("_", " ") for step in sentence["path"]]
        assert one.locator(".nugget").all_inner_texts() == [match["answer"] for match in sentence["matched"]]
    assert any(sentence["matched"] for sentence in sentences)
    nuggets = explained["report_eval"]["items"][0]["nuggets"]
    missed = [nugget["question"] for nugget in nuggets if not nugget["covered"]]
    shown = page.locator(".missed li").all_inner_texts()
    assert [any(text.startswith(question) for text in shown) for question in missed] == [True] * len(shown) != []


def test_the_picture_of_two_trees(report, scored, open_page):
    sample, _ = explained_of(scored, "tree_extraction")
    page = open_document(open_page(report).page, "tree_extraction", sample.doc["doc_id"])
    rows = page.locator(".tree tbody tr")
    assert page.locator(".tree .missing").count() > 0 and page.locator(".tree .same").count() > 0
    assert all(key in page.locator(".tree").inner_text() for key in json.loads(sample.doc["reference"]))
    all_rows = rows.count()
    page.check(".check:has-text('only what differs') input")
    assert (
        0 < sum(row.is_visible() for row in rows.all()) == all_rows - page.locator(".tree :is(.same, .absent)").count()
    )


def test_the_picture_of_a_summary(report, scored, open_page):
    sample, explained = explained_of(scored, "summ_qmsum")
    counts = explained["rouge_l"]["items"][0]["counts"]["rouge_l"]
    page = open_document(open_page(report).page, "summ_qmsum", sample.doc["doc_id"])
    sides = page.locator(".pair section")
    words = [side.locator("mark").all_inner_texts() for side in sides.all()]
    assert len(words[0]) == len(words[1]) == counts["precision_hits"] > 0
    sides.first.locator("mark").nth(1).hover()
    assert [side.locator("mark.on").all_inner_texts() for side in sides.all()] == [[own[1]] for own in words]
    assert sample.doc["query"] in page.locator("#view").inner_text()
    page.click("summary:has-text('The prompt')")
    assert page.locator("[aria-label='The prompt']").text_content() == sample.request


def test_two_runs_document_by_document(report, scored, open_page):
    """Where they differ most comes first; won and lost are filters; x flips; a link opens all of it again."""
    values = [
        dict(zip(run.ids, (run.of_document(at)["ar1_f1"] for at in range(len(run.ids))), strict=True))
        for run in (scored["base", "tls_crisis"], scored["noisy", "tls_crisis"])
    ]
    apart = {name: values[0][name] - values[1][name] for name in values[0]}
    opened = open_page(report)
    page = opened.page
    page.select_option("#task", label="tls_crisis")
    assert (
        B in page.locator("#other option").all_inner_texts()
        and A not in page.locator("#other option").all_inner_texts()
    )
    names = page.locator("#list .row .name > span:first-child").all_inner_texts()
    assert [abs(apart[name]) for name in names] == sorted(map(abs, apart.values()), reverse=True)
    page.locator("#list .row").first.click()
    scores = page.locator(".scores dd").first.inner_text()
    assert f"{values[0][names[0]]:.3f}" in scores and f"{values[1][names[0]]:.3f}" in scores
    page.click(".only button:has-text('won')")
    won = [name for name in names if apart[name] > 1e-9]
    assert page.locator("#list .row .name > span:first-child").all_inner_texts() == won
    page.keyboard.press("x")
    assert page.locator("#view section.side-b").count() == 1 and page.locator("#view section.side-a").count() == 0
    page.click(".sides button:has-text('both')")
    assert page.locator("#view section").evaluate_all("n => n.filter((s) => /side-/.test(s.className)).length") == 2
    assert opened.violations() == []
    page.reload()
    assert page.locator("#view h2").inner_text().startswith(names[0]) and page.locator("#other").input_value() == "1"
    page.locator(".point.won").first.click()
    assert page.locator("#view h2").inner_text().split()[0] in won and opened.errors == []


def test_what_is_taken_away(report, scored, open_page):
    opened = open_page(report)
    page = opened.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.select_option("#task", label="tree_extraction")
    page.click("text=Copy Markdown")
    page.wait_for_selector("text=Copied")
    text = page.evaluate("navigator.clipboard.readText()")
    run = scored["base", "tree_extraction"]
    assert f"{run.metrics['f1_value']:.4f}" in text and "| run | f1\\_value |" in text and "tree_eval|" in text
    assert "embedded edition" in text
    page.click("text=Copy LaTeX")
    page.wait_for_function("navigator.clipboard.readText().then((text) => text.includes('toprule'))")
    text = page.evaluate("navigator.clipboard.readText()")
    assert "f1\\_value &" in text and f"& {run.metrics['f1_value']:.3f} " in text and "% tree_eval|" in text
    page.click("text=Copy CSV")
    page.wait_for_function("navigator.clipboard.readText().then((text) => text.startsWith('run,'))")
    heads, first, *_ = csv.reader(page.evaluate("navigator.clipboard.readText()").splitlines())
    assert float(dict(zip(heads, first, strict=True))["f1_value"]) == run.metrics["f1_value"]
    with page.expect_download() as download:
        page.click("text=Save SVG")
    assert download.value.suggested_filename == "tree_extraction.svg"
    with page.expect_download() as download:
        page.evaluate("() => { navigator.clipboard.write = () => Promise.reject(); }")
        page.click("text=Copy picture")
    assert download.value.suggested_filename == "tree_extraction.png"
    page.emulate_media(media="print")
    shown = [page.locator(name).is_visible() for name in (".forest", "#view h2", "#documents")]
    assert shown == [True, True, False], "the head and the open document are printed"
    assert opened.errors == []


def test_a_missing_verdict_names_its_nugget(made_runs, tmp_path, open_page):
    """Verdicts are taken out of a logged answer, as a judge that was down would leave them out."""
    [path] = made_runs.glob("base/**/samples_report_generation_*")
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for row in rows:
        judged = json.loads(row["filtered_resps"][0])
        judged["judgments"] = [one for one in judged["judgments"] if one["kind"] != "nugget_agreement"]
        row["filtered_resps"] = [json.dumps(judged)]
    changed = tmp_path / path.name
    changed.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    page_of_it = tmp_path / "page.html"
    page_of_it.write_text(page(list(score_places([changed]))), encoding="utf-8")
    shown = open_page(page_of_it).page.locator(".said .chips .bad").all_inner_texts()
    assert any(", nugget: " in text for text in shown)


def test_what_tells_runs_of_one_model_apart(made_runs, tmp_path):
    [path] = made_runs.glob("base/**/samples_summ_qmsum*")
    [results] = path.parent.glob(f"results_{path.stem.split('_')[-1]}*")
    for place in ("a", "b"):
        for file in (path, results):
            (tmp_path / place).mkdir(exist_ok=True)
            (tmp_path / place / file.name).write_bytes(file.read_bytes())
    assert labels(list(score_places([tmp_path]))) == ["CUSTOM (a)", "CUSTOM (b)"]
    assert labels(list(score_places([tmp_path / "a"]))) == ["CUSTOM"]


def test_hostile_texts_are_only_texts(tmp_path, open_page):
    path = write_page(tmp_path, hostile_rows(len(HOSTILE)))
    opened = open_page(path, 390)
    for number in range(len(HOSTILE)):
        opened.page.locator("#list .row").nth(number).click()
        opened.page.locator("#view details").last.locator("summary").click()
        assert "Protests" in opened.page.locator("#view").inner_text()
    assert opened.page.title() == "tls_crisis"
    assert opened.page.locator("#view img, #view script, #list img, body style, body base").count() == 0
    assert opened.page.evaluate("getComputedStyle(document.body).display") != "none"
    assert (opened.errors, opened.requests, width_beyond_the_screen(opened.page)) == ([], [path.as_uri()], 0)


def test_the_policy_stops_a_script_that_is_not_ours(tmp_path, open_page):
    """The check of the check: a script that got into the page would not run, and would be seen."""
    path = write_page(tmp_path, hostile_rows(1))
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("</main>", "</main><script>document.title = 'broken'</script>"), encoding="utf-8")
    opened = open_page(path)
    assert opened.page.title() != "broken" and any("Content Security Policy" in error for error in opened.errors)


def test_of_many_documents_only_the_visible_rows_are_drawn(tmp_path, open_page):
    opened = open_page(write_page(tmp_path, hostile_rows(500)))
    page = opened.page
    assert page.locator("#count").inner_text() == "500 documents"
    drawn = page.evaluate("document.querySelectorAll('main *').length")
    assert page.locator("#list .row").count() < 60 and drawn < 2_000, drawn
    page.locator("#list .row").nth(12).hover()
    page.mouse.down()
    page.evaluate("list.style.flex = '0 0 500px'")
    page.locator("#list .row").nth(34).wait_for(state="detached")  # there is no room for as many rows
    page.mouse.up()  # a list that is resized between a press and its release swallows no click
    assert page.locator("#list .row[aria-selected=true]").get_attribute("aria-posinset") == "13"
    page.locator("#list").focus()
    page.keyboard.press("End")
    assert page.locator("#list .row[aria-selected=true]").get_attribute("aria-posinset") == "500"
    assert page.locator("#list .row").count() < 60 and opened.errors == []


def test_a_changed_document_costs_only_its_own_picture(tmp_path, open_page):
    rows = list(hostile_rows(2))
    rows[0]["doc"]["reference"] = "not JSON"
    opened = open_page(write_page(tmp_path, rows))
    assert opened.page.locator("#view .strip").count() == 1  # the other one, since this one has no score
    opened.page.click(".only button:has-text('lost words 1')")
    opened.page.locator("#list .row").click()
    assert "This document could not be explained" in opened.page.locator("#view").inner_text()
    assert opened.page.locator("#view .strip").count() == 0 and opened.errors == []


def test_logs_of_other_tasks_show_what_differs_from_the_target(tmp_path, open_page):
    row = {"doc_id": 0, "doc": {"question": "2 + 2?"}, "target": "the sum is 4", "filtered_resps": ["the answer is 4"]}
    row |= {"filter": "none", "exact_match": 0.0, "metrics": ["exact_match"]}
    row["arguments"] = {"gen_args_0": {"arg_0": "2 + 2?"}}
    samples = tmp_path / "samples_sums_2026-01-01T00-00-00.jsonl"
    samples.write_text(json.dumps(row) + "\n")
    path = tmp_path / "page.html"
    path.write_text(page(list(read_runs([samples]))), encoding="utf-8")
    opened = open_page(path)
    assert opened.page.locator("mark.spurious").all_inner_texts() == ["answer "]
    assert opened.page.locator("mark.miss").all_inner_texts() == ["sum "]
    assert opened.errors == [] and re.search(r"scores 0\.000 on exact_match", opened.page.locator(".lead").inner_text())


def other_rows(n, answers=("yes", "no"), **more):
    """A log of another task with a binary metric: the model's whole response and what a filter made of it."""
    for at in range(n):
        said = answers[at % len(answers)]
        row = {"doc_id": at, "doc": {"question": f"Is {at} even?"}, "target": "yes", "filter": "none"}
        row |= {"resps": [[f"Let me think about Gaddafi and {at}. {said}"]], "filtered_resps": [said]}
        yield row | {"exact_match": float(said == "yes"), "metrics": ["exact_match"], **more}


def write_logs(folder, *runs):
    for at, rows in enumerate(runs):
        (folder / f"m{at}").mkdir()
        samples = folder / f"m{at}" / "samples_even_2026-01-01T00-00-00.jsonl"
        samples.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    path = folder / "page.html"
    path.write_text(page(list(read_runs([folder]))), encoding="utf-8")
    return path


def test_the_whole_response_is_shown_and_searched_and_a_link_keeps_the_search(tmp_path, open_page):
    opened = open_page(write_logs(tmp_path, other_rows(4)))
    view = opened.page.locator("#view")
    assert (
        "Let me think about Gaddafi" in view.inner_text() and "Is 0 even?" in opened.page.locator("#list").inner_text()
    )
    opened.page.fill("#words", "GADDAFI AND 3")
    assert opened.page.locator("#count").inner_text() == "1 of 4 documents"
    assert "Gaddafi and 3" in view.inner_text(), "the open document follows the filter"
    opened.page.reload()
    assert opened.page.locator("#count").inner_text() == "1 of 4 documents" and opened.errors == []


def test_two_runs_by_a_binary_metric_and_what_one_says_otherwise(tmp_path, open_page):
    opened = open_page(write_logs(tmp_path, other_rows(4), other_rows(4, ("yes", "yes", "no", "no"))))
    assert opened.page.locator(".cells td.figure").all_inner_texts() == ["1", "1", "1", "1"]
    opened.page.click("button:has-text('differences')")
    assert opened.page.locator(".raw mark").count() > 0 and opened.errors == []


def test_of_ten_runs_the_best_are_shown(tmp_path, open_page):
    opened = open_page(
        write_logs(tmp_path, *(other_rows(10, ["yes"] * at + ["no"] * (10 - at)) for at in range(1, 11)))
    )
    shown = opened.page.locator(".forest tbody .figure b").all_inner_texts()
    assert shown[:5] == ["1.000", "0.900", "0.800", "0.700", "0.600"] and len(shown) < 10
    opened.page.click("text=Show all runs")
    assert opened.page.locator(".forest tbody .figure b").count() == 10 and opened.errors == []


def test_runs_without_a_score_are_not_compared(tmp_path, open_page):
    opened = open_page(write_logs(tmp_path, *[[*other_rows(2, exact_match=float("nan"))]] * 2))
    said = opened.page.locator(".lead").inner_text()
    assert said.startswith("Nothing to compare on exact_match: ") and "level" not in said


def test_lost_words_are_marked_in_the_response(tmp_path, open_page):
    rows = list(hostile_rows(1))
    rows[0]["filtered_resps"] = ["2011-01-01: Protests.\n2011-13-45: Nobody knows the day."]
    rows[0]["resps"] = [rows[0]["filtered_resps"]]
    opened = open_page(write_page(tmp_path, rows))
    assert "Nobody knows" in opened.page.locator("mark.lost").inner_text() and opened.errors == []


def test_many_long_answers_make_a_page_of_twelve_megabytes_at_most(tmp_path):
    path = write_page(tmp_path, ({**row, "resps": [["x" * 50_000]]} for row in hostile_rows(800)))
    assert path.stat().st_size < 12_000_000 and "more characters stand in samples_tls_crisis" in path.read_text("utf-8")


def test_the_example_of_the_docs_is_of_this_code():
    text = (Path(__file__).parents[2] / "docs" / "example.html").read_text(encoding="utf-8")
    assert asset("page.js") in text, "write it anew: make docs"
    scores = TASKS["tls_crisis"].scores({"reference": "[]"}, "2011-01-25: Protests.")
    assert all(score.signature in text for score in scores.values()), "write it anew: make docs"
