"""The app of each metric in a real Chromium: an example is scored, a slip is told, hostile text is shown and not run.

One server holds all of them, and nothing is fetched from anywhere else.
"""

import json
import re
import threading
from contextlib import contextmanager
from functools import partial

import pytest

from tests.browser import Opened
from tls_tasks import space
from tls_tasks.registry import METRICS

COLUMNS = {"predictions", "references", "sources"}

HOSTILE = "</iframe></script><script>alert(1)</script><img src=x onerror=alert(2)> ${alert(3)} {{value}} \x1b[31m"


@pytest.fixture(scope="module")
def address():
    """A server with the apps of all metrics, each under its name."""
    # Not above: it takes five seconds, and each worker that collects the tests reads this file.
    gradio = pytest.importorskip("gradio", reason="no gradio: pip install 'tls-tasks[spaces]'")
    import uvicorn
    from fastapi import FastAPI

    app = FastAPI()
    app.get("/favicon.ico")(lambda: {})  # Chromium asks once for an icon of the whole server
    for name in METRICS:
        app = gradio.mount_gradio_app(app, space.space(name), path=f"/{name}", **space.settings())
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        thread.join(0.05)
        assert thread.is_alive(), "the server did not start"
    port = server.servers[0].sockets[0].getsockname()[1]
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join(10)


@pytest.fixture
def visit(browser, address):
    @contextmanager
    def visited(name, width=1280):
        context = browser.new_context(viewport={"width": width, "height": 900}, reduced_motion="reduce")
        try:
            opened = Opened(context)
            opened.page.goto(f"{address}/{name}")
            opened.page.get_by_role("button", name="Score", exact=True).wait_for()
            yield opened
            assert opened.errors == []
            assert {url.split("/")[2] for url in opened.requests if url.startswith("http")} == {address[7:]}
        finally:
            context.close()

    return visited


def labelled(page, name):
    """The text box of an argument, whose label may go on with what is said of it; options come later."""
    return page.get_by_label(re.compile(rf"^\s*{name}")).first


def wait_for_value(box, text):
    """Wait until a text box holds a text: gradio fills one box after another."""
    from playwright.sync_api import expect

    expect(box).to_have_value(text, timeout=180_000)


def choose(page, label, example):
    """Click an example, and wait until its texts are there."""
    page.get_by_role("button", name=label).click()
    for name, text in example.items():
        wait_for_value(labelled(page, name[:-1] if name in COLUMNS else name), text)


def press_score(page, comes=":is(table, p.trouble)"):
    """Press the button and wait for what comes, which is not there yet."""
    page.get_by_role("button", name="Score", exact=True).click()
    page.locator(f"#result {comes}").first.wait_for()


def scrolls_sideways(page):
    return page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")


@pytest.mark.parametrize("name", sorted(METRICS))
def test_an_example_is_clicked_and_scored(visit, name):
    label, example = next(iter(space.examples(name).items()))
    with visit(name) as opened:
        page = opened.page
        choose(page, label, example)
        press_score(page)
        key = METRICS[name].result_keys[-1]
        shown = page.locator("#result tr", has=page.get_by_role("rowheader", name=key, exact=True)).locator("td")
        score = METRICS[name].load()(**space._arguments(METRICS[name], example))
        assert shown.inner_text() == f"{score.as_dict()[key]:.4f}"
        wait_for_value(page.locator("#signature").get_by_role("textbox"), score.signature)
        page.frame_locator("iframe.picture").locator("#view > *").first.wait_for()
        assert not scrolls_sideways(page)


def test_a_slip_is_told_and_the_next_try_is_scored(visit):
    """At the width of a telephone; an option is chosen, too."""
    example = space.examples("tree_eval")["A parcel, with one slip"]
    with visit("tree_eval", width=390) as opened:
        page = opened.page
        page.get_by_role("button", name="Options").click()  # its box is there, and settled, when it is filled
        labelled(page, "schema").fill("{broken")
        press_score(page)
        told = "schema: got text that is not JSON (Expecting property name enclosed in double quotes"
        assert page.locator("#result p.trouble").inner_text().startswith(told)
        assert page.locator("iframe").count() == 0
        choose(page, "A parcel, with one slip", example)
        labelled(page, space._OPTIONS).fill('{"hierarchical_averaging": true}')
        press_score(page, "table")
        wait_for_value(page.locator("#signature").get_by_role("textbox"), re.compile(r"\|avg:hierarchical\|"))
        assert not scrolls_sideways(page)
        page.frame_locator("iframe.picture").locator("#view > *").first.wait_for()
        assert opened.violations() == []


def test_hostile_text_is_shown_and_runs_nothing(visit):
    with visit("date_f1") as opened:
        page = opened.page
        labelled(page, "prediction").fill(f"2011-01-25: {HOSTILE}")
        labelled(page, "reference").fill(f"2011-01-25: {HOSTILE}")
        press_score(page)
        drawn = page.frame_locator("iframe.picture")
        drawn.locator("#view .entry .prose").nth(1).wait_for()
        assert drawn.locator("#view .entry .prose").all_inner_texts() == [HOSTILE, HOSTILE]
        assert drawn.locator("#view :is(script, img, iframe)").count() == 0
        labelled(page, "reference").fill(HOSTILE)
        press_score(page, "p.trouble")
        assert "<script>alert(1)" in page.locator("#result p.trouble").inner_text()
        assert page.locator("#result :is(script, img, iframe)").count() == 0


def test_every_app_is_made_and_scores_its_examples():
    """Without a browser: what the button calls, with what an example puts into the components."""
    pytest.importorskip("gradio", reason="no gradio: pip install 'tls-tasks[spaces]'")
    for name in METRICS:
        (scored,) = [made.fn for made in space.space(name).fns.values() if isinstance(made.fn, partial)]
        for example in space.examples(name).values():
            result, signature, picture = scored(*[example.get(argument, "") for argument in scored.args[1]])
            assert "<table" in result and signature.startswith(name) and "<iframe" in picture


def test_options_are_json_with_the_defaults_and_a_slip_in_them_is_told():
    row, defaults = {"predictions": "a b", "references": "b a"}, space._fields(METRICS["rouge_l"])[1]
    assert defaults["rouge_types"] == ("rougeL",) and "seed" not in defaults

    def answered(**options):
        return space._answer(METRICS["rouge_l"], [*row, space._OPTIONS], *row.values(), json.dumps(defaults | options))

    assert answered()[1] == METRICS["rouge_l"].load()(["a"], ["b"]).signature
    for types in (["rougeLsum"], ["rouge1", "rouge2"]):
        table, _, picture = answered(rouge_types=types)
        assert "_precision" in table and "<iframe" in picture
    assert "did you mean &#x27;unicode&#x27;" in answered(tokenizer="unicod")[0]
    assert "use_stemer" in answered(use_stemer=True)[0]
    for text in ("[1]", "{broken"):
        assert 'role="alert"' in space._answer(METRICS["rouge_l"], [*row, space._OPTIONS], *row.values(), text)[0]
