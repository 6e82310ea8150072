"""README, docs, cards and the families' READMEs: every code block is run or checked, and no link is dead."""

import dataclasses
import importlib.util
import json
import re
import shlex
import shutil
import subprocess
import sys

import pytest
import yaml

from scripts import pages, stand_ins, walk
from tests.conftest import ROOT, made_once
from tests.harness_parts import manager
from tls_tasks.registry import FAMILIES, METRICS

PAGES = [page for page in pages.pages() if pages.blocks(page)]
ALL = [block for page in PAGES for block in pages.blocks(page)]
NO_CODE = {"text", "bibtex", "json", "jsonl", "yaml", "toml"}


def test_blocks_say_what_they_are():
    """What has no language is an output."""
    outputs = {output for page in PAGES for _, output in pages.with_output(page)}
    for block in ALL:
        known = block.language in NO_CODE | {"python", "bash"} or (block in outputs and not block.language)
        assert known, f"{block}: a block of language {block.language!r}; text, json, python and bash are known"


def test_no_link_is_dead():
    assert [wrong for page in pages.pages() for wrong in pages.dead_links(page)] == []


def page_cases():
    for page in PAGES:
        languages = {block.language for block in pages.blocks(page)}
        marks = [pytest.mark.slow] if "bash" in languages else []
        if page == "docs/inspect.md" and not importlib.util.find_spec("inspect_ai"):
            marks.append(pytest.mark.skip(reason="the extra inspect is not installed"))
        if languages & {"python", "bash"}:
            yield pytest.param(page, marks=marks, id=page)


@pytest.fixture(scope="session")
def equipment(commands, tmp_path_factory):
    """The environment of the pages' commands, and what stands in for what this machine lacks."""
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    made = made_once(tmp_path_factory, "stand_ins", stand_ins.make)
    with stand_ins.server() as url:
        yield stand_ins.environment(walk.environment(commands), made), stand_ins.words(made, url), made / "files"


@pytest.mark.parametrize("page", list(page_cases()))
def test_the_code_runs_and_prints_what_the_page_shows(page, tmp_path, request):
    """All of it: what needs a model, a server or the hub has a stand-in."""
    walked = walk.Walk(tmp_path)
    if any(block.language == "bash" for block in pages.blocks(page)):
        walked.environment, walked.words, files = request.getfixturevalue("equipment")
        shutil.copytree(files, tmp_path, dirs_exist_ok=True)
    for block, output in pages.with_output(page):
        printed = walked.run(block)
        if output and printed is not None:
            assert walk.agrees(output.text, printed), f"{block}: printed\n{printed}"
    if page == "docs/after_a_run.md":
        for name in ("scores.csv", "page.html"):
            assert (tmp_path / name).stat().st_size > 500, name
    if page == "docs/leaderboard.md":
        check_workflow(walked)
    if page == "docs/after_a_run.md":
        check_gate(walked)


def check_workflow(walked):
    """The last step of the page's workflow, on the submissions that the page's commands made."""
    (block,) = [block for block in pages.blocks("docs/leaderboard.md") if block.language == "yaml"]
    step = yaml.safe_load(block.text)["jobs"]["verify"]["steps"][-1]
    board, sent = walked.folder / "board", walked.folder / "sent" / "submissions"
    board.mkdir()
    shutil.copy(walked.folder / "signers", board)
    for name in ("keyword", "signed"):
        shutil.copytree(walked.folder / name, sent / name)
    assert walked.run(dataclasses.replace(block, language="bash", text=step["run"])).count("verified against data") == 2
    (results,) = (sent / "keyword" / "run").glob("results_*.json")
    results.write_text(results.read_text(encoding="utf-8").replace("0.5", "0.9"), encoding="utf-8")
    with pytest.raises(AssertionError, match="not in the manifest with this hash"):
        walked.run(dataclasses.replace(block, language="bash", text=step["run"]))


def check_gate(walked):
    """The last step of the page's workflow: an equal run passes, a worse one fails."""
    (block,) = [block for block in pages.blocks("docs/after_a_run.md") if block.language == "yaml"]
    step = yaml.safe_load(block.text)["jobs"]["gate"]["steps"][-1]
    shutil.copytree(walked.folder / "out" / "three", walked.folder / "base")
    shutil.copytree(walked.folder / "out" / "three", walked.folder / "new")
    assert "rouge_l_f1" in walked.run(dataclasses.replace(block, language="bash", text=step["run"]))
    (samples,) = (walked.folder / "new").glob("**/samples_*.jsonl")
    rows = [json.loads(line) for line in samples.read_text(encoding="utf-8").splitlines()]
    for row in rows:
        row["filtered_resps"] = ["Nothing."]
    samples.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with pytest.raises(AssertionError, match=r"rouge_l_f1 of .* is worse than"):
        walked.run(dataclasses.replace(block, language="bash", text=step["run"]))


def commands_of(block):
    """The commands of a block: each a list of words; of a pipe or a chain, each part."""
    text = re.sub(r"\$\(.*?\)", "MADE", block.text.replace("\\\n", " "))
    text = text.replace(" 2>&1", "").replace(" >/dev/null", "")
    for line in text.splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars=";|&")
        lexer.whitespace_split = True
        words = []
        for word in [*lexer, ";"]:
            if set(word) <= set(";|&"):
                if words:
                    yield words
                words = []
            else:
                words.append(word)


@pytest.fixture(scope="session")
def harness_names():
    import lm_eval.models  # noqa: F401  it registers them
    from lm_eval.api.registry import model_registry

    return set(manager().all_tasks), model_registry


def check_lm_eval(words, names, monkeypatch):
    from lm_eval._cli import HarnessCLI

    monkeypatch.setattr(sys, "argv", words)
    args = HarnessCLI().parse_args()
    tasks, models = names
    if args.command == "run":
        for task in args.tasks if isinstance(args.tasks, list) else args.tasks.split(","):
            assert task in tasks, f"no task {task}"
        assert args.model in models, f"no model {args.model}"
        metadata = args.metadata
        assert metadata is None or isinstance(metadata if isinstance(metadata, dict) else json.loads(metadata), dict)


def check_command(words, names, monkeypatch):
    """Whether a command of a page exists, with all its options."""
    from tls_tasks import cli

    while "=" in words[0] and words[0].partition("=")[0].isupper():
        words = words[1:]
    name, rest = words[0].removeprefix(".venv/bin/"), words[1:]
    if name == "lm_eval":
        check_lm_eval(["lm_eval", *rest], names, monkeypatch)
    elif name == "tls-tasks":
        if rest and not {"--help", "--version"} & set(rest):
            cli._parser().parse_args(rest)
    elif name == "make":
        targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
        assert {word for word in rest if "=" not in word} <= targets
    elif name == "pip" or (name == "python" and rest[:2] == ["-m", "pip"]):
        project = (
            (ROOT / "pyproject.toml").read_text(encoding="utf-8").partition("[project.optional-dependencies]\n")[2]
        )
        extras = re.findall(r"^(\w+) = \[", project.partition("\n[")[0], re.M)
        named = ",".join(re.findall(r"\[(.*?)\]", " ".join(rest)))
        assert set(filter(None, named.split(","))) <= set(extras), f"extras: {extras}"
    elif name == "python" and rest[0].endswith(".py"):
        assert (ROOT / rest[0]).is_file(), f"no file {rest[0]}"
    else:
        usual = "mkdir cp cd grep inspect head cat ls export git ssh-keygen echo python python3 . unzip".split()
        assert name in usual, f"{name} is no command that the pages may use"


def test_make_demo_runs_what_the_readme_shows_first():
    (block, *_) = [block for block in pages.blocks("README.md") if block.language == "bash"]
    recipe = re.search(r"^demo: .*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
    assert f"\t$(BIN)/{block.text.strip()}\n" in recipe[1]


def test_the_tables_commands_exist(harness_names, monkeypatch):
    rows = re.search(r"^\| What you have .*?\n\n", (ROOT / "README.md").read_text(encoding="utf-8"), re.M | re.S)
    typed = re.findall(r"^\|[^|]*\| `((?:lm_eval|tls-tasks) [^`]*)` \|$", rows[0], re.M)
    assert len(typed) == rows[0].count("\n") - 3
    for command in typed:
        check_command(shlex.split(command), harness_names, monkeypatch)


@pytest.mark.parametrize("page", [page for page in PAGES if any(b.language == "bash" for b in pages.blocks(page))])
def test_commands_and_options_exist(page, harness_names, monkeypatch):
    for block in pages.blocks(page):
        if block.language == "bash":
            for words in commands_of(block):
                try:
                    check_command(words, harness_names, monkeypatch)
                except (AssertionError, SystemExit, ValueError) as error:
                    pytest.fail(f"{block}: {shlex.join(words)}: {error}")


def test_json_blocks_are_json():
    for block in ALL:
        if block.language in ("json", "jsonl"):
            for text in block.text.splitlines() if block.language == "jsonl" or "\n{" in block.text else [block.text]:
                json.loads(text)


def test_every_family_has_data_of_its_own_on_the_page():
    found = pages.blocks("docs/your_data.md")
    assert sum(block.language == "bash" for block in found) == 1 + len(FAMILIES)
    assert all(block.text.count("\n") == 2 for block in found if block.marker.startswith("file "))


def test_the_site(request):
    """Built strictly: a dead link, an anchor or a name that is missing fails. Nothing on it comes from elsewhere."""
    pytest.importorskip("zensical")
    pytest.importorskip("mkdocstrings")
    done = subprocess.run([sys.executable, "scripts/make_docs.py"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    site = ROOT / "build" / "site"
    api = (site / "api.html").read_text(encoding="utf-8")
    for name in METRICS:
        assert re.search(rf'id="tls_tasks\.{name}"', api), f"docs/api.md lacks the line ::: tls_tasks.{name}"
    open_page = request.getfixturevalue("open_page")  # skips without a browser
    for page in ("index.html", "api.html"):
        assert not [url for url in open_page(site / page).requests if not url.startswith(("file:", "data:"))]


def test_the_index_shows_the_readme_with_links_that_work(monkeypatch):
    metadata = pytest.importorskip("hatchling.metadata.core")
    from hatchling.plugin.manager import PluginManager

    def readme():
        return metadata.ProjectMetadata(str(ROOT), PluginManager()).core.readme

    monkeypatch.delenv("GITHUB_REPOSITORY", raising=False)
    text = readme()
    assert "how the harness finds the tasks" in text and "(docs/" not in text and "![" not in text
    assert "](https://github.com/huggingface/evaluate)" in text
    monkeypatch.setenv("GITHUB_REPOSITORY", "someone/here")
    monkeypatch.setenv("GITHUB_SERVER_URL", "https://example.org")
    text = readme()
    assert "[docs/your_data.md](https://example.org/someone/here/blob/HEAD/docs/your_data.md)" in text
    assert "](https://example.org/someone/here/raw/HEAD/docs/pictures/page.png)" in text
    assert not [link for link in re.findall(r"\]\(([^)]*)\)", text) if not link.startswith("https://")]
