"""The page in a real browser: over real runs, at two widths, in the dark, with hostile texts, with 1,000 documents."""

import json
import re
import shutil

import pytest

from tests.after.conftest import change_json, change_rows, only, put
from tests.cli.conftest import run, write
from tls_tasks.after.page import labels, page
from tls_tasks.after.scored_runs import score_places
from tls_tasks.cli import main

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

HOSTILE = [
    "</script><script>document.title = 'broken'</script>",
    "<img src=x onerror=\"document.title = 'broken'\">",
    "<!-- <script> --> \u2028 \u2029 \x00 \x1b[31m",
    "javascript:alert(1) {{7*7}} ${7*7} &lt;b&gt; &amp;",
    "\ud800 lone, \u202e right to left \u202d, " + "Z\u0351\u036b" * 200,
    "x" * 20_000,
    "<style>body { display: none }</style><base href='http://127.0.0.1:1/'>",
]


@pytest.fixture(scope="module")
def report(made_runs, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "page.html"
    assert main(["page", str(made_runs), "-o", str(path), "--title", "Two <systems>"]) == 0
    return path


def test_the_former_name_does_the_same(made_runs, tmp_path, capsys):
    samples = only(made_runs / "base", "samples_summ_qmsum_*")
    assert run("page", capsys, samples, "-o", tmp_path / "page.html")[0] == 0
    code, _, err = run("report", capsys, samples, "-o", tmp_path / "report.html")
    assert code == 0 and "tls-tasks report: this command is called `tls-tasks page` now" in err
    assert (tmp_path / "page.html").read_bytes() == (tmp_path / "report.html").read_bytes()


def hostile_rows(n_documents):
    """A samples file of made-up timelines whose texts try to break out."""
    rows = []
    for number in range(n_documents):
        bad, day = HOSTILE[number % len(HOSTILE)], f"2011-01-{1 + number % 28:02}"
        reference = json.dumps([{"date": day, "text": [f"Protests {bad}"]}])
        doc = {"doc_id": f"{bad[:300]}/{number}", "topic": bad[:300], "reference": reference}
        answers = [f"{day}: Protests {bad}"]
        rows.append({"doc_id": number, "doc": doc, "filtered_resps": answers, "filter": "none"})
    return rows


def write_page(folder, rows):
    samples = write(folder / "samples_tls_crisis_2026-01-01T00-00-00.jsonl", *rows)
    path = folder / "page.html"
    path.write_text(page(list(score_places([samples])), title="</title><script>"), encoding="utf-8")
    return path


def opened_at(page, task, name):
    """The page of a report with one document of a task opened."""
    page.select_option("#control-Task", label=task)
    page.locator("#list tbody button", has_text=re.compile(f"^{re.escape(name)}$")).click()
    return page


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_every_family_at_two_widths(report, open_page, width, dark):
    opened = open_page(report, width, dark)
    for task in opened.page.locator("#control-Task option").all_inner_texts():
        opened.page.select_option("#control-Task", label=task)
        assert opened.page.locator("#list tbody tr").count() >= 3
        assert opened.page.locator("#view h3").first.inner_text()
        assert opened.violations("#view") == []
        wide = opened.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, "the page itself must not scroll sideways"
    assert opened.violations() == []  # what is around the views, once
    picture = opened.page.screenshot(full_page=True)
    assert int.from_bytes(picture[16:20], "big") == width and len(picture) > 20_000, "as wide as the screen, not blank"
    assert opened.errors == [] and opened.requests == [report.as_uri()]
    assert opened.page.title() == "Two <systems>"


def test_the_table_of_runs_shows_what_was_reported(report, made_runs, open_page):
    opened = open_page(report)
    for scored in score_places([made_runs / "base"]):
        article = opened.page.locator("article", has=opened.page.locator(f"h3:text-is('{scored.name}')"))
        assert article.locator("tbody th").all_inner_texts()[0].startswith("CUSTOM (base)")
        cells = article.locator("tbody td").all_inner_texts()
        key = next(key for key, result in scored.score.definitions.items() if result.better)
        assert any(cell.startswith(f"{scored.reported[key]:.4f}") and "[" in cell for cell in cells)
        assert article.locator("svg:not(.spread) rect.bar").count() == 2
        own = [scored.of_document(place)[key] for place in range(len(scored.ids))]
        n_documents = sum(value == value for value in own)
        counted = article.locator("svg.spread title").all_text_contents()
        assert sum(int(title.split()[0]) for title in counted[: len(counted) // 2]) == n_documents
        assert f"{scored.reported[key]:.4f}" in opened.page.locator("#overview").inner_text()
        assert re.search(r"\|v:\d+$", article.locator("code").first.inner_text())


def test_sorting_filtering_and_walking(report, open_page):
    page = open_page(report).page
    page.select_option("#control-Task", label="tls_crisis")
    column = page.locator("#list th button[data-column=date_f1]")
    column.click()
    place = page.locator("#list th button").all_inner_texts().index("date_f1") + 1
    values = [float(text) for text in page.locator(f"#list tbody td:nth-child({place})").all_inner_texts()]
    assert values == sorted(values) and len(set(values)) > 1
    assert page.locator("#list th[aria-sort=ascending]").inner_text().startswith("date_f1")
    page.keyboard.press("Enter")  # the column's button kept the focus
    assert page.locator("#list th[aria-sort=descending]").count() == 1
    page.fill("#control-Name-or-topic-has", "egypt")
    rows = page.locator("#list tbody tr")
    assert rows.count() == 2 and page.locator("#count").inner_text() == "2 of 8 documents"
    rows.first.locator("button").focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "document"
    first = page.locator("#view h3").first.inner_text()
    assert page.locator("text=Previous document").is_disabled()
    page.click("text=Next document")
    assert page.locator("#view h3").first.inner_text() != first and page.locator("text=Next document").is_disabled()
    page.fill("#control-Name-or-topic-has", "")
    page.fill("#control-ar1_f1-at-most", "0.06")
    shown = [float(text) for text in page.locator("#list tbody td:nth-child(2)").all_inner_texts()]
    assert shown and max(shown) <= 0.06


@pytest.fixture
def first_of(report, made_runs, open_page):
    """Task -> its first document opened on the page: the page, its sample, and what its metrics explain."""

    def opened(task):
        scored = next(one for one in score_places([made_runs / "base"]) if one.name == task)
        sample = scored.log.samples[0]
        page = opened_at(open_page(report).page, task, scored.ids[0])
        return page, sample, scored.explain(sample)

    return opened


def test_the_picture_of_a_timeline(first_of):
    """Dots, lines, their tooltips and the marked words are those of the detailed result."""
    page, _, explained = first_of("tls_crisis")
    alignment = explained["alignment_rouge"]["items"][0]["alignment"]
    matches = explained["date_f1"]["items"][0]["matches"]
    picture = page.locator("#view svg")
    assert picture.locator("line.precision").count() == len(alignment["precision"]) > 0
    assert picture.locator("line.recall").count() == len(alignment["recall"]) > 0
    assert picture.locator("circle:not(.free)").count() == 2 * len(matches) > 0
    pair, title = alignment["precision"][0], picture.locator("line.precision title").first.text_content()
    assert title.startswith(f"{pair['predicted']} with {pair['reference']} (precision): weight {pair['weight']:.4f}, ")
    assert f", {pair['hits']:g} words" in title
    assert page.locator("#view .days mark").count() > 0
    page.click("#view summary:has-text('(recall)')")
    assert page.locator("#view details[open] tbody tr").count() == len(alignment["recall"])
    before = picture.locator("circle").nth(1).get_attribute("cx")
    page.check(".even")
    assert page.locator("#view svg circle").nth(1).get_attribute("cx") != before


def test_the_picture_of_extracted_objects(first_of):
    page, sample, explained = first_of("evidence_journals")
    item = explained["evidence_extraction"]["items"][0]
    source = page.locator("#view .panel p.model").first
    assert source.text_content() == sample.doc["text"]
    for match in item["matches"]:
        assert page.locator("#view mark.hit", has_text=match["reference"]["span"].split()[-1]).count() > 0
    assert item["misses"] and source.locator("mark.miss").count() > 0
    tables = page.locator("#view table:has(caption)")
    n_rows = [tables.nth(place).locator("tbody tr").count() for place in range(3)]
    assert n_rows == [len(item["matches"]), len(item["misses"]), len(item["spurious"])]


def test_the_picture_of_a_cited_report(first_of):
    page, _, explained = first_of("report_generation")
    sentences = explained["report_eval"]["items"][0]["sentences"]
    shown = page.locator("#view li.sentence")
    assert shown.count() == len(sentences) > 3
    for place, sentence in enumerate(sentences):
        one = shown.nth(place)
        assert one.locator(".model").inner_text() == sentence["text"]
        assert one.locator(".step").all_inner_texts() == [step.replace("_", " ") for step in sentence["path"]]
        assert one.locator("mark.hit").all_inner_texts() == [match["answer"] for match in sentence["matched"]]
    assert any(sentence["matched"] for sentence in sentences)


def test_the_picture_of_two_trees(first_of):
    page, sample, explained = first_of("tree_extraction")
    fields = explained["tree_eval"]["fields"].values()
    rows = page.locator("#view table.trees tbody tr")
    states = page.locator("#view table.trees tbody tr td:nth-child(4)").all_inner_texts()
    assert rows.count() == len(states) > len(fields)
    assert states.count("missing") > 0 and states.count("same") > 0
    shown = page.locator("#view table.trees").inner_text()
    assert all(key in shown for key in json.loads(sample.doc["reference"]))


def test_the_picture_of_a_summary(first_of):
    page, sample, explained = first_of("summ_qmsum")
    counts = explained["rouge_l"]["items"][0]["counts"]["rouge_l"]
    for panel in page.locator("#view .pair .panel").all():
        marked = " ".join(panel.locator("mark").all_inner_texts()).split()
        assert len(marked) == counts["precision_hits"] > 0
    assert sample.doc["query"] in page.locator("#view").inner_text()


def test_two_runs_side_by_side(report, made_runs, open_page):
    """Worst first; beside another run the document where the two differ most; and a link that opens it again."""
    runs = {}
    for name in ("base", "noisy"):
        scored = next(one for one in score_places([made_runs / name]) if one.name == "tls_crisis")
        places = range(len(scored.ids))
        runs[name] = {scored.ids[place]: scored.of_document(place)["ar1_f1"] for place in places}
    apart = {name: runs["base"][name] - runs["noisy"][name] for name in runs["base"]}
    opened = open_page(report)
    page = opened.page
    page.select_option("#control-Task", label="tls_crisis")
    names, shown = "#list tbody button", "#view h3 >> nth=0"
    assert page.locator(names).all_inner_texts() == sorted(runs["base"], key=lambda name: runs["base"][name])
    assert page.locator(shown).inner_text().startswith(min(runs["base"], key=lambda name: runs["base"][name]))
    page.select_option("#control-Beside-it", label="CUSTOM (noisy)")
    ordered = page.locator(names).all_inner_texts()
    assert [abs(apart[name]) for name in ordered] == sorted(map(abs, apart.values()), reverse=True)
    page.locator(names).first.click()
    both = page.locator("#view .beside > div")
    assert both.count() == 2 and opened.violations() == []
    for place, name in enumerate(("base", "noisy")):
        assert f"ar1_f1 {runs[name][ordered[0]]:.4f}" in both.nth(place).inner_text()
    page.reload()
    assert page.locator(shown).inner_text().startswith(f"{ordered[0]} tls_crisis, CUSTOM (base)")
    assert page.locator("#view .beside > div").count() == 2 and opened.errors == []
    page.set_viewport_size({"width": 390, "height": 900})
    score = page.locator("#list tbody tr >> nth=0").locator("td >> nth=1").bounding_box()
    assert score["x"] + score["width"] <= 390, "the score is visible on a phone"


def test_the_prompt_is_shown(first_of):
    page, sample, _ = first_of("summ_qmsum")
    page.click("#view summary:has-text('The prompt')")
    assert page.locator("#view details[open] .model").text_content() == sample.request


def test_a_missing_verdict_names_its_nugget(made_runs, tmp_path, open_page):
    """Verdicts are taken out of a logged answer, as a judge that was down would leave them out."""

    def without_verdicts(rows):
        for row in rows:
            judged = json.loads(row["filtered_resps"][0])
            judged["judgments"] = [one for one in judged["judgments"] if one["kind"] != "nugget_agreement"]
            row["filtered_resps"] = [json.dumps(judged)]

    path = only(made_runs / "base", "samples_report_generation_*")
    changed = change_rows(path, without_verdicts, tmp_path / path.name)
    page_of_it = write(tmp_path / "page.html", page(list(score_places([changed]))))
    shown = open_page(page_of_it).page.locator("#view li.sentence ul.bad").all_inner_texts()
    assert shown and all(", nugget: " in text for text in shown)


def test_what_tells_runs_of_one_model_apart(made_runs, tmp_path):
    samples = only(made_runs / "base", "samples_summ_qmsum_*")
    results = only(samples.parent, f"results_{samples.stem.split('_')[-1]}*")
    for name, n in (("a", 1), ("b", 3)):
        (tmp_path / name).mkdir()
        for path in (samples, results):
            shutil.copy(path, tmp_path / name)
        change_json(tmp_path / name / results.name, put("config", "model_args", value={"n": n}))
    assert labels(list(score_places([tmp_path]))) == ["CUSTOM (n=1)", "CUSTOM (n=3)"]
    assert labels(list(score_places([tmp_path / "a"]))) == ["CUSTOM"]


def test_hostile_texts_are_only_texts(tmp_path, open_page):
    path = write_page(tmp_path, hostile_rows(len(HOSTILE)))
    opened = open_page(path, 390)
    for number in range(len(HOSTILE)):
        opened.page.locator("#list tbody button").nth(number).click()
        opened.page.locator("#view details").last.locator("summary").click()
        shown = opened.page.locator("#view").inner_text()
        assert "Protests" in shown
    assert opened.page.title() == "</title><script>"
    assert opened.page.locator("#view img, #view script, #list img, body style, body base").count() == 0
    assert opened.page.evaluate("getComputedStyle(document.body).display") != "none"
    wide = opened.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert (opened.errors, opened.requests, wide) == ([], [path.as_uri()], 0)


def test_the_policy_stops_a_script_that_is_not_ours(tmp_path, open_page):
    """The check of the check: a script that got into the page would not run, and would be seen."""
    path = write_page(tmp_path, hostile_rows(1))
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("</main>", "</main><script>document.title = 'broken'</script>"), encoding="utf-8")
    opened = open_page(path)
    assert opened.page.title() != "broken" and any("Content Security Policy" in error for error in opened.errors)


def test_many_documents_are_fast(tmp_path, open_page):
    path = write_page(tmp_path, hostile_rows(500))
    opened = open_page(path)
    opened.page.wait_for_selector("#list tbody tr")
    assert opened.page.locator("#count").inner_text() == "500 of 500 documents"
    # Work is counted, not timed: sorting and opening draw the list of 200 again, not what is not shown.
    drawn = opened.page.evaluate(
        """() => {
        const all = document.querySelectorAll('*').length, make = document.createElement.bind(document);
        let made = 0;
        document.createElement = (name) => { made += 1; return make(name); };
        document.querySelector('#list th button[data-column=ar1_f1]').click();
        document.querySelectorAll('#list tbody button')[100].click();
        document.createElement = make;
        return [all, made]; }"""
    )
    assert drawn[0] < 10_000 and drawn[1] < 3 * drawn[0], drawn
    for n_shown in (400, 500):
        opened.page.click("text=Show more documents")
        assert opened.page.locator("#list tbody tr").count() == n_shown
    assert opened.page.locator("text=Show more documents").is_hidden() and opened.errors == []


def test_a_changed_document_costs_only_its_own_picture(tmp_path, open_page):
    rows = hostile_rows(2)
    rows[0]["doc"]["reference"] = "not JSON"
    opened = open_page(write_page(tmp_path, rows))
    assert opened.page.locator("#view svg").count() == 1  # the other one, since this one has no score
    opened.page.click("text=Next document")
    assert "This document could not be explained" in opened.page.locator("#view").inner_text()
    assert opened.page.locator("#view svg").count() == 0 and opened.errors == []
