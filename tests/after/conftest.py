"""Real runs that may be submitted: a chat endpoint on loopback as the model, data of the user's own."""

import json
import shutil

import pytest

from tests.cli.conftest import run, write
from tests.conftest import made_once, read_jsonl
from tests.harness_parts import Server
from tls_tasks.after.submission import archive
from tls_tasks.summaries import baseline as lead
from tls_tasks.timelines import baseline as datewise

TASKS = ["summ_qmsum", "tls_crisis"]


@pytest.fixture
def call(capsys):
    """Runs a command; returns its exit code, and what it prints on stdout and stderr."""
    return lambda command, *arguments: run(command, capsys, *arguments)


def change_rows(path, change, target=None):
    """Write the rows of a log as a function changes or makes them, there or elsewhere."""
    rows = read_jsonl(path)
    return write(target or path, *(change(rows) or rows))


def change_json(path, change):
    """Write a JSON file as a function changes it."""
    value = json.loads(path.read_text(encoding="utf-8"))
    change(value)
    path.write_text(json.dumps(value), encoding="utf-8")


def put(*keys, value):
    """What puts a value somewhere into an object."""

    def change(node):
        for key in keys[:-1]:
            node = node[key]
        node[keys[-1]] = value

    return change


def sign_again(folder):
    """Make a manifest fit its files, as a forger would."""
    change_json(folder / "manifest.json", lambda listed: listed.update(files=archive.file_hashes(folder)))


def only(folder, pattern):
    """The one file below a folder with such a name."""
    (path,) = folder.rglob(pattern)
    return path


def baseline(every):
    """A model: the baselines' answers, and a refusal to every n-th prompt."""
    prompts = []

    def answer(prompt):
        prompts.append(prompt)
        if len(prompts) % every == 0:
            return "I can't."
        return lead.answer(prompt, 3) if "<document>" in prompt else datewise.answer(prompt)

    return answer


@pytest.fixture(scope="session")
def chat_runs(tmp_path_factory):
    """``good`` and ``worse``: real runs of acme/good and acme/worse on the same data of the user's own; read only."""
    pytest.importorskip("lm_eval")
    pytest.importorskip("tenacity")
    return made_once(tmp_path_factory, "chat", make_chat_runs)


def make_chat_runs(folder):
    from tests.made_runs import make_run
    from tls_tasks.data.sources import EMBEDDED

    for name in TASKS:
        shutil.copytree(EMBEDDED / name, folder / "data" / name)
    for file in (folder / "data").rglob("*.jsonl"):  # data that nobody knows: a copy would be the embedded edition
        file.write_text(file.read_text(encoding="utf-8").replace(" the ", " THE "), encoding="utf-8")
    for name, every in (("good", 10**9), ("worse", 2)):
        server = Server(baseline(every))
        try:
            make_run(
                folder / name,
                "local-chat-completions",
                TASKS,
                model_args=f"model=acme/{name},base_url={server.url}",
                metadata={"data": str(folder / "data")},
                apply_chat_template=True,
                gen_kwargs="max_gen_toks=64",
            )
        finally:
            server.close()
