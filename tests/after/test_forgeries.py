"""A competent forger recomputes every hash, score and record with our own code. Each forgery is refused or marked."""

import json
import math
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

import tls_tasks
from tests.after.conftest import change_json, change_rows, only, put, sign_again
from tests.cli.conftest import write
from tests.conftest import ROOT, made_once, read_jsonl
from tls_tasks.after.scored_runs import score_places
from tls_tasks.after.submission import archive, checks, golds
from tls_tasks.cli import main

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

ATTACKS = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))["ATTACKS"]
SAYS = {name: says for row in ATTACKS for name, says in row["cases"].items()}
TASK = "evidence_journals"


def make_honest(folder):
    from tests.made_runs import make_run
    from tls_tasks.hosts.models import KeywordLM

    make_run(folder / "run", KeywordLM(), [TASK])
    make_run(folder / "other", KeywordLM(), ["evidence_maccrobat"])
    arguments = ["submit", folder / "run", "-o", folder / "sent", "--model", "acme/honest", "--no-chat-template"]
    assert main(list(map(str, arguments))) == 0
    for name in ("acme", "eve"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)], check=True)
    public = (folder / "acme.pub").read_text().split()
    (folder / "signers").write_text(f"acme {public[0]} {public[1]}\n")


@pytest.fixture(scope="session")
def honest(tmp_path_factory):
    """``sent``: an honest submission of a real run; ``other``: one on an embedded edition; keys of acme and of eve."""
    pytest.importorskip("lm_eval")
    if shutil.which("ssh-keygen") is None:
        pytest.skip("no OpenSSH")
    return made_once(tmp_path_factory, "honest", make_honest)


@pytest.fixture
def sent(honest, tmp_path):
    """A copy of the honest submission, to forge."""
    shutil.copytree(honest / "sent", tmp_path / "sent")
    return tmp_path / "sent"


def forge(folder, rows=None, results=None, manifest=None):
    """Change what is asked for, and make everything else fit it."""
    path, results_path = only(folder / "run", f"samples_{TASK}_*"), only(folder / "run", "results_*")
    stated = json.loads(results_path.read_text(encoding="utf-8"))
    samples = read_jsonl(path)
    samples = (rows(samples) or samples) if rows else samples
    stated["n-samples"][TASK] = {"original": len(samples), "effective": len(samples)}

    def write_both():
        write(path, *samples)
        write(results_path, stated)

    write_both()
    [scored] = score_places([folder / "run"])
    for sample in scored.log.samples:
        sample.row.update(checks.hashes_of(sample))
    samples = [sample.row for sample in scored.log.samples]
    stated["task_hashes"][TASK] = checks.task_hash(scored.log.samples)
    stated["results"][TASK].update({f"{key},none": value for key, value in scored.metrics.items()})
    if results:
        results(stated)
    write_both()
    if manifest:
        change_json(folder / "manifest.json", manifest)
    [scored] = score_places([folder / "run"])
    if content := archive.eval_results([scored], tls_tasks.__version__):
        (folder / archive.EVAL_RESULTS).parent.mkdir(exist_ok=True)
        (folder / archive.EVAL_RESULTS).write_bytes(content)
    sign_again(folder)


# What a forgery changes: parts of the arguments of forge, to be joined.


def rows(change):
    return {"rows": change}


def each_row(change):
    def change_all(samples):
        for sample in samples:
            change(sample)

    return change_all


def each(change):
    return rows(each_row(change))


def results(change):
    return {"results": change}


def stated(**values):
    return results(lambda said: said.update(values))


def manifest(**values):
    return {"manifest": lambda listed: listed.update(values)}


def metadata(**values):
    return results(lambda said: said["configs"][TASK]["metadata"].update(values))


def provenance(**values):
    return results(lambda said: said["configs"][TASK]["metadata"]["provenance"].update(values))


def answer(sample, text):
    sample["resps"], sample["filtered_resps"] = [[text]], [text]


def ask(sample, request):
    sample["arguments"]["gen_args_0"]["arg_0"] = request


def request_of(sample):
    return sample["arguments"]["gen_args_0"]["arg_0"]


def new_gold(sample):
    sample["doc"]["references"] = sample["target"] = sample["resps"][0][0]


def easy_gold(sample):
    """What the model found, but for its first object."""
    sample["doc"]["references"] = sample["target"] = json.dumps(json.loads(sample["resps"][0][0])[1:])


def other_first(samples):
    samples[0]["doc"]["text"] = "I had a mild cough."
    ask(samples[0], request_of(samples[1]))


def hint(samples):
    ask(samples[3], f"The answer is {samples[3]['target']}.\n{request_of(samples[3])}")


def brief(samples):
    for sample in samples:
        ask(sample, f"Be brief.\n{request_of(sample)}")
    return samples[:17]


RENAMED = each(lambda row: row["doc"].update(doc_id=f"X{row['doc']['doc_id']}"))
FIRST_ONLY = rows(lambda samples: samples[:17])
EXAMPLE = "<document>\nA cough.\n</document>\n\nList everything. JSON:\n[]\n\n"


def dressed(change):
    """The gold answers in other clothes."""
    return each(lambda row: answer(row, change(json.loads(row["target"]))))


def around(text, told):
    """Put something before all prompts, and say so in the results."""
    return each(lambda row: ask(row, f"{text}\n{request_of(row)}")) | stated(**told)


def argument(**arguments):
    """Other arguments of each request, which may depend on the row."""
    return each(lambda row: row["arguments"]["gen_args_0"].update({key: make(row) for key, make in arguments.items()}))


def config(**values):
    return results(lambda said: said["configs"][TASK].update(values))


def generation(**settings):
    return argument(arg_1=lambda row: settings) | config(generation_kwargs=settings)


def second_name(samples):
    """Two documents whose names look the same."""
    samples[1]["doc"]["doc_id"] = "\uff2a001"


def easier(samples):
    old = samples[0]["doc"]["text"]
    samples[0]["doc"]["text"] = f"{old} Easy."
    ask(samples[0], request_of(samples[0]).replace(old, f"{old} Easy."))


def cut(samples):
    samples[0]["doc"] = dict(tls_tasks.task(TASK).shorter(samples[0]["doc"], 10))
    ask(samples[0], tls_tasks.task(TASK).prompt(samples[0]["doc"]))


GOLDS = [gold for doc in tls_tasks.task(TASK).documents(edition="embedded") if len(gold := doc["references"]) > 2]
TEMPLATE = {"chat_template": "{{ messages }}", "chat_template_sha": checks.sha256("{{ messages }}")}

FORGERIES = {
    "answers replaced by the gold": each(lambda row: answer(row, row["target"])),
    "answers replaced after the responses": each(lambda row: row.update(filtered_resps=["[]"])),
    "responses taken away": each(lambda row: row.pop("resps")),
    "the best of two responses": each(lambda row: row.update(resps=[["[]", row["resps"][0][0]]])),
    "the best of three responses, first": each(lambda row: row["resps"][0].extend(["[]", "x"])),
    "one empty request": rows(lambda samples: ask(samples[3], "")),
    "a budget that is text": metadata(context_budget="24000"),
    "gold replaced by answers": each(new_gold),
    "one document of three": FIRST_ONLY,
    "invented documents": RENAMED,
    "invented documents under another budget": RENAMED | metadata(context_budget=30_000),
    "one document of three under a system prompt": rows(brief) | stated(system_instruction="Be brief."),
    "the edition relabelled in the results": provenance(edition="hub", origin="acme/journals@1"),
    "examples in the prompts": each(lambda row: ask(row, EXAMPLE + request_of(row))),
    "examples that are stated and not there": results(put("n-shot", TASK, value=3)),
    "a hint in one prompt": rows(hint),
    "another document's prompt": rows(other_first),
    "a chat template that is hidden": each(lambda row: ask(row, f"[INST] {request_of(row)} [/INST]")),
    "a chat template of another name": stated(chat_template="{{ x }}", chat_template_sha="0" * 64),
    "scores that are not numbers": results(put("results", TASK, "evidence_f1,none", value=math.nan)),
    "a task that is not there": {"manifest": lambda listed: listed["tasks"].append("tls_crisis")},
    "a name that is none": manifest(model="acme/honest\u202e"),
    "a name with a path": manifest(model="acme/../gpt"),
    "the gold without blanks": dressed(lambda gold: json.dumps(gold, separators=(",", ":"))),
    "the gold in a fence": dressed(lambda gold: f"```json\n{json.dumps(gold)}\n```"),
    "the gold after a sentence": dressed(lambda gold: f"Here it is: {json.dumps(gold, indent=1)}"),
    "the gold as YAML": dressed(lambda gold: yaml.safe_dump(gold, allow_unicode=True)),
    "the gold in reverse": dressed(lambda gold: json.dumps(gold[::-1])),
    "the keys of the gold in reverse": dressed(lambda gold: json.dumps([dict(reversed(row.items())) for row in gold])),
    "an edition that is stated": each(lambda row: row["doc"].update(edition="hub")) | provenance(edition="hub"),
    "an answer key in a chat template": around("\n".join(GOLDS), TEMPLATE),
    "settings of the generation": generation(temperature=0.7),
    "a text changed, and fitted as it says": rows(easier) | provenance(context="512 tokens"),
    "a text changed under a schema": rows(easier) | metadata(schema="schema.json"),
    "a text changed under an automatic budget": rows(easier) | metadata(context_budget="auto"),
    "a text that was cut": rows(cut) | manifest(model="eve/cut"),
    "an option that can't be": metadata(context_budget=0),
    "the gold in an argument that nobody reads": argument(arg_1=lambda row: {"prefill": row["target"]}),
    "the gold in a second request": each(lambda row: row["arguments"].update(gen_args_1={"arg_0": row["target"]})),
    "images beside the prompt": argument(arg_2=lambda row: {"visual": [row["target"]]}),
    "settings that the results do not state": argument(arg_1=lambda row: {"temperature": 2, "n": 64}),
    "settings of the command that the results do not state": results(
        put("config", "gen_kwargs", value={"temperature": 2})
    ),
    "a setting that is true instead of 1": argument(arg_1=lambda row: {"n": True}) | config(generation_kwargs={"n": 1}),
    "a description that no prompt has": config(description="Think first."),
    "answers repeated that are there once": config(repeats=64),
    "examples that the settings state": config(num_fewshot=5),
    "examples of one's own": config(
        fewshot_config={"sampler": "first_n", "split": "fewshot", "samples": [{"text": "A cough."}]}
    ),
    "two names that look the same": rows(second_name),
    "a manifest older than its run": manifest(date=1.0),
    "a manifest of the future": manifest(date=9e9),
}
"""Name -> what is changed; what is what the board says of it lies in the JSON file beside."""


def test_each_forgery_is_in_the_table():
    assert sorted(SAYS) == sorted(FORGERIES)


@pytest.mark.parametrize("name", FORGERIES)
def test_what_the_board_says_of_a_forgery(name, honest, sent, tmp_path, call):
    """It is left out for the reason, or ranked beside the honest one with what the page says of it."""
    forge(sent, **FORGERIES[name])
    code, _, err = call("leaderboard", honest / "sent", sent, "-o", tmp_path, "--data", "embedded")
    says = SAYS[name]
    page = (tmp_path / "index.html").read_text()
    assert says in (err if code else page) and "left out: it could not be checked" not in err
    assert '<th scope="row">acme/honest' in page and ("left out" in err) == bool(code)


def threats():
    """The table of docs/developing/threats.md."""
    titles = {
        "attack": "Attack",
        "checked": "What is checked",
        "board": "What the board shows",
        "left": "Left to people",
    }
    lines = [" | ".join(row[key] or "–" for key in titles) for row in ATTACKS]
    return "".join(f"| {line} |\n" for line in (" | ".join(titles.values()), " | ".join(["---"] * 4), *lines))


def test_the_page_on_threats_has_the_table():
    assert threats() in (ROOT / "docs/developing/threats.md").read_text("utf-8"), (
        "python -m tests.after.test_forgeries prints it"
    )


@pytest.mark.parametrize("name", ["summ_qmsum", "tls_crisis", "report_generation"])
@pytest.mark.parametrize("wear", ["{}".format, "```\n{}\n```".format])
def test_answers_that_equal_the_reference_once_read_are_counted(made_runs, tmp_path, name, wear):
    """In each family; what the baselines write is not meant."""
    source = only(made_runs / "base", f"samples_{name}_*")
    [honest] = score_places([source])
    path = change_rows(source, each_row(lambda row: answer(row, wear(str(row["target"])))), tmp_path / source.name)
    [forged] = score_places([path])
    n = len(honest.ids)
    assert golds.facts(forged)[golds.EQUAL] == f"{n} of {n}" and golds.facts(honest)[golds.EQUAL] == f"0 of {n}"


@pytest.mark.parametrize("name", [".eval_results/tls_tasks.yaml", "run/readme.html", "labels.csv"])
def test_no_file_is_extra(sent, call, name):
    write(sent / name, {})
    sign_again(sent)
    code, _, err = call("verify", sent)
    assert code == 1 and f"file: {name} is no part of a submission" in err


def test_without_data_it_is_self_consistent_and_never_verified(sent, call):
    code, out, _ = call("verify", sent)
    assert code == 0 and f"self-consistent: acme/honest, {TASK}; unsigned" in out and "verified" not in out
    for left in ("whether the model wrote the answers", "who submitted it: unsigned", "--data PLACE"):
        assert f"  not checked: {left}" in out or left in out
    code, out, _ = call("verify", sent, "--data", "embedded")
    assert code == 0 and f"verified against data: acme/honest, {TASK}" in out
    assert f"  {TASK}: known data, embedded edition, data 6b87cb726fdc, context_budget 24000, 0-shot" in out
    assert "checked: evidence_journals: ids and gold answers of all 50 documents" in out


def of_unknown_data(folder):
    """Give the documents a fingerprint that nobody knows."""
    forge(folder, **each(lambda row: row["doc"].update(edition="local")))
    forge(folder, **provenance(fingerprint="1" * 64, edition="local"))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (RENAMED, "documents invented: 50, first 'XJ001'"),
        (each(easy_gold), "documents unlike the data: 47, first 'J001' in references"),
        (FIRST_ONLY, "33 of 50 documents not there"),
        ({}, "the fingerprint 111111111111, embedded has 6b87cb726fdc"),
    ],
)
def test_what_passes_as_unknown_data_is_refused_by_data(sent, call, change, words):
    """Marked without data, refused with it."""
    of_unknown_data(sent)
    forge(sent, **change)
    code, out, _ = call("verify", sent)
    assert code == 0 and f"{TASK}: unknown data, unknown edition" in out
    code, _, err = call("verify", sent, "--data", "embedded")
    assert code == 1 and words in err


def test_a_text_that_was_changed_under_its_own_id_is_refused_by_data(sent, call):
    forge(sent, **rows(easier))
    assert call("verify", sent)[0] == 0  # the log alone can't tell
    code, _, err = call("verify", sent, "--data", "embedded")
    assert code == 1 and "documents unlike the data: 1, first 'J001' in text" in err


def test_an_embedded_edition_is_not_the_hubs(honest, tmp_path, call):
    run = shutil.copytree(honest / "other", tmp_path / "run")
    results_path, samples = only(run, "results_*"), only(run, "samples_*")
    said = ("configs", "evidence_maccrobat", "metadata", "provenance")
    change_json(results_path, put(*said, "edition", value="hub"))
    change_json(results_path, put(*said, "fingerprint", value="2" * 64))
    samples.write_text(samples.read_text().replace('"edition": "embedded"', '"edition": "hub"'))
    code, _, err = call("submit", run, "-o", tmp_path / "out", "--model", "acme/m", "--no-chat-template")
    assert code == 1 and "the documents are those of the embedded edition, whatever the results say" in err


def test_other_conditions_are_other_boards(honest, sent, tmp_path, call):
    forge(sent, **metadata(context_budget=30_000), **manifest(model="acme/long"))
    shutil.copytree(honest / "sent", tmp_path / "copy")
    forge(tmp_path / "copy", **manifest(model="eve/copy"))
    places = [honest / "sent", sent, tmp_path / "copy", honest / "sent"]
    code, out, err = call("leaderboard", *places, "-o", tmp_path / "site")
    page = (tmp_path / "site" / "index.html").read_text()
    assert code == 1 and "3 submissions, 1 left out" in out and "a second submission of acme/honest" in err
    first, second = page.split("<section ")[1:]
    assert "context_budget 24000" in first and "acme/honest" in first and "acme/long" not in first
    assert "context_budget 30000" in second and "acme/long" in second
    assert "eve/copy gave the same answers as acme/honest, word by word" in first


def test_runs_that_measure_different_things_are_not_ranked_together(sent, tmp_path, call):
    """Two strangers state one fingerprint for documents with different schemas."""
    of_unknown_data(sent)
    other = shutil.copytree(sent, tmp_path / "other")

    def fewer(row):
        schema = json.loads(row["doc"]["schema"])
        row["doc"]["schema"] = json.dumps({**schema, "attributes": schema["attributes"][:1]})
        ask(row, tls_tasks.task(TASK).prompt(row["doc"]))

    forge(other, **each(fewer), **manifest(model="eve/other"))
    assert call("leaderboard", sent, other, "-o", tmp_path / "site")[0] == 0
    assert (tmp_path / "site" / "index.html").read_text().count("<section ") == 2


def test_the_hubs_own_reader_takes_the_eval_results(sent, tmp_path, call):
    """Only of the tasks that read a data set of the hub, since no other can take them."""
    from huggingface_hub import parse_eval_result_entries

    arguments = ("--model", "acme/honest", "--no-chat-template", "-o")
    assert not (sent / ".eval_results").exists()
    origin = {"edition": "hub", "origin": "acme/journals@" + "a" * 40}
    forge(sent, **each(lambda row: row["doc"].update(edition="hub")), **provenance(**origin))
    assert call("submit", sent / "run", *arguments, tmp_path / "some")[0] == call("verify", tmp_path / "some")[0] == 0
    rows = yaml.safe_load((tmp_path / "some" / ".eval_results" / "tls_tasks.yaml").read_text())
    entries = {entry.task_id: entry for entry in parse_eval_result_entries(rows)}
    [scored] = score_places([sent / "run"])
    ranked = {f"{TASK}.{key}": value for key, value in scored.ranked.items()}
    assert {key: entry.value for key, entry in entries.items()} == ranked
    assert {(entry.dataset_id, entry.dataset_revision) for entry in entries.values()} == {("acme/journals", "a" * 40)}
    assert "evidence_extraction|" in entries[f"{TASK}.evidence_f1"].notes
    change_json(tmp_path / "some" / "manifest.json", lambda listed: listed.update(tls_tasks="0.0.1"))
    assert "tls_tasks.yaml is not what the samples give" in call("verify", tmp_path / "some")[2]


def test_half_a_surrogate_pair_in_the_options(sent, call):
    forge(sent, **provenance(origin="\ud800"))
    assert call("verify", sent)[0] == 0


def write_signers(path, *lines):
    path.write_text("".join(f"{name} {' '.join(key.read_text().split()[:2])}\n" for name, key in lines))


class TestSigners:
    def sign(self, folder, honest, who):
        command = ["ssh-keygen", "-q", "-Y", "sign", "-n", "tls-tasks", "-f", honest / who, folder / "manifest.json"]
        subprocess.run(command, check=True, capture_output=True)

    def test_submit_signs_and_a_name_belongs_to_its_key(self, honest, sent, tmp_path, call):
        arguments = ("--model", "acme/honest", "--no-chat-template", "--sign", honest / "acme")
        assert call("submit", honest / "run", "-o", tmp_path / "own", *arguments)[0] == 0
        own, signers = tmp_path / "own", ("--allowed-signers", honest / "signers")
        assert "; signed by acme\n" in call("verify", own, *signers)[1]
        assert "signed by a key without a name here (SHA256:" in call("verify", own)[1]
        forge(sent, **each(lambda row: answer(row, "[]")))  # somebody else's, first and under the same name
        shutil.copytree(sent, tmp_path / "eve")
        forge(tmp_path / "eve", **each(lambda row: answer(row, "[ ]")))
        self.sign(tmp_path / "eve", honest, "eve")
        code, _, _ = call("leaderboard", sent, tmp_path / "eve", own, "-o", tmp_path / "site", *signers)
        page = (tmp_path / "site" / "index.html").read_text()
        assert code == 0 and '<th scope="row">acme/honest</th>' in page
        assert '<th scope="row">acme/honest (unsigned)</th>' in page
        assert '<th scope="row">acme/honest (signed by a key without a name here (SHA256:' in page
        assert "<td>signed by acme</td>" in page and "<td>unsigned</td>" in page

    @pytest.mark.parametrize(("name", "is_bound"), [("acme", True), ("Acme", True), ("beta", False)])
    def test_a_copy_never_displaces_the_original(self, honest, sent, tmp_path, call, name, is_bound):
        """The copy is read first."""
        shutil.copytree(sent, tmp_path / "copy")
        self.sign(sent, honest, "acme")
        write_signers(tmp_path / "signers", (name, honest / "acme.pub"))
        places = (tmp_path / "copy", sent, "-o", tmp_path / "site", "--allowed-signers", tmp_path / "signers")
        code, out, err = call("leaderboard", *places)
        page = (tmp_path / "site" / "index.html").read_text()
        kept, copy = (sent, tmp_path / "copy") if is_bound else (tmp_path / "copy", sent)
        assert code == 1 and "1 submission, 1 left out" in out
        assert f"{copy} left out: a copy: a second submission of acme/honest with the files of {kept}\n" in err
        assert f'<th scope="row">acme/honest{"" if is_bound else " (unsigned)"}</th>' in page

    @pytest.mark.parametrize(
        ("lines", "words"),
        [
            ([("acme", "acme.pub"), ("beta", "acme.pub")], "signers:2: a second line of beta, or of its key"),
            ([("acme", "acme.pub"), ("Acme", "eve.pub")], "signers:2: a second line of acme, or of its key"),
            ([("acme,beta", "acme.pub")], "signers:1: expected one name and its key"),
            ([("ac*", "acme.pub")], "signers:1: expected one name and its key"),
        ],
    )
    def test_one_name_has_one_key(self, honest, sent, tmp_path, call, lines, words):
        write_signers(tmp_path / "signers", *((name, honest / key) for name, key in lines))
        code, _, err = call("verify", sent, "--allowed-signers", tmp_path / "signers")
        assert code == 2 and words in err

    @pytest.mark.parametrize(
        ("model", "says"),
        [
            *((model, "unsigned") for model in ("acme/honest", "ACME/other", "acrne/h0nest")),
            *((model, "unsigned, not by the key of acme") for model in ("acme_/x", "Acme-AI/x", "a.c.m.e/x")),
        ],
    )
    def test_an_unsigned_one_says_so(self, honest, sent, tmp_path, call, model, says):
        forge(sent, **manifest(model=model))
        assert call("leaderboard", sent, "-o", tmp_path, "--allowed-signers", honest / "signers")[0] == 0
        assert f'<th scope="row">{model} ({says})</th>' in (tmp_path / "index.html").read_text()

    @pytest.mark.parametrize("model", ["\uff41cme/x", "acm\u00e9/x", "\u0430cme/x"])
    def test_a_name_in_other_letters_is_refused(self, sent, call, model):
        forge(sent, **manifest(model=model))
        code, _, err = call("verify", sent)
        assert code == 1 and "refused: model: " in err

    @pytest.mark.parametrize("replaces", [True, False])
    def test_an_older_one_sent_again_is_left_out(self, honest, sent, tmp_path, call, replaces):
        """Of two that one key signed the later is ranked, in whatever order they are sent, and whatever their dates are
        if it names the other; what another key or nobody signed is not touched."""
        forge(sent, **each(lambda row: answer(row, "[]")), **manifest(date=time.time() + (60 if replaces else -60)))
        self.sign(sent, honest, "acme")
        arguments = (
            "submit",
            honest / "run",
            "--model",
            "acme/honest",
            "--no-chat-template",
            "--sign",
            honest / "acme",
        )
        more = ("--replaces", sent / "manifest.json") if replaces else ()
        assert call(*arguments, *more, "-o", tmp_path / "new.zip")[0] == 0
        other = shutil.copytree(sent, tmp_path / "other")
        (other / "manifest.json.sig").unlink()
        forge(other, **each(lambda row: answer(row, "[ ]")))
        for places in ([sent, tmp_path / "new.zip"], [tmp_path / "new.zip", sent]):
            how = ("-o", tmp_path / "site", "--allowed-signers", honest / "signers")
            code, out, err = call("leaderboard", *places, other, *how)
            page = (tmp_path / "site" / "index.html").read_text()
            assert code == 1 and "2 submissions, 1 left out" in out
            assert "left out: acme/honest of 20" in err and f": {TASK}: its key signed a later one" in err
            assert page.count('<th scope="row">acme/honest</th>') == page.count(">acme/honest (unsigned)</th>") == 2

    def test_other_conditions_are_no_older_ones(self, honest, sent, tmp_path, call):
        shutil.copytree(sent, tmp_path / "long")
        self.sign(sent, honest, "acme")
        forge(tmp_path / "long", **metadata(context_budget=30_000))
        self.sign(tmp_path / "long", honest, "acme")
        code, out, _ = call("leaderboard", sent, tmp_path / "long", "-o", tmp_path / "site")
        assert code == 0 and "2 submissions, 0 left out" in out

    def test_a_manifest_that_was_edited_after_it_was_signed(self, honest, sent, call):
        self.sign(sent, honest, "acme")
        forge(sent, **manifest(model="acme/better"))
        code, _, err = call("verify", sent, "--allowed-signers", honest / "signers")
        assert code == 1 and "refused: signature: it is not one of this manifest" in err

    def test_a_signature_of_another_manifest_or_none(self, honest, sent, tmp_path, call):
        (tmp_path / "manifest.json").write_text("{}")
        self.sign(tmp_path, honest, "acme")
        shutil.copyfile(tmp_path / "manifest.json.sig", sent / "manifest.json.sig")
        assert "signature: it is not one" in call("verify", sent)[2]
        (sent / "manifest.json.sig").write_text("no signature")
        assert "signature: it is not one" in call("verify", sent)[2]

    def test_signers_that_are_none(self, honest, sent, call):
        """A public key as OpenSSH writes it names nobody: with it every submission would be nobody's."""
        self.sign(sent, honest, "acme")
        code, _, err = call("verify", sent, "--allowed-signers", honest / "acme.pub")
        assert code == 2 and "acme.pub:1: expected one name and its key in this line: ORG ssh-ed25519" in err

    def test_data_that_is_not_there(self, sent, call):
        code, out, err = call("verify", sent, "--data", "nowhere")
        assert (code, out) == (2, "") and "--data: got 'nowhere', expected a folder or file" in err

    def test_without_openssh_or_key(self, honest, tmp_path, call, monkeypatch):
        arguments = ("submit", honest / "run", "--model", "acme/honest", "--no-chat-template", "-o", tmp_path / "out")
        code, _, err = call(*arguments, "--sign", tmp_path / "none")
        assert code == 2 and f"{tmp_path / 'none'}: " in err
        monkeypatch.setenv("PATH", str(tmp_path))
        code, _, err = call(*arguments[:-1], tmp_path / "out2", "--sign", honest / "acme")
        assert code == 2 and "OpenSSH's ssh-keygen, which is not installed" in err and not (tmp_path / "out2").exists()


if __name__ == "__main__":
    sys.stdout.write(threats())
