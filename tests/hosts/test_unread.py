"""Options that nobody reads: an error in Python, a warning in the harness, and no warning in an ordinary run."""

import pytest

import tls_tasks
from tests.test_tasks import OWN
from tls_tasks.core.errors import InputError, OptionError
from tls_tasks.hosts import lm_eval as lm_eval_host
from tls_tasks.registry import FAMILIES

pytest.importorskip("lm_eval")

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(params=FAMILIES)
def task(request):
    return tls_tasks.task(OWN[request.param])


@pytest.fixture(autouse=True)
def nothing_said(monkeypatch):
    monkeypatch.setattr(lm_eval_host, "_said", set())


def loaded(task, **options):
    stated = {"a_data_set": task.name, "edition": "embedded", "version": 1.0, "config_source": "a.yaml"}
    return lm_eval_host._load(task, **stated, **options)


def test_in_python_it_is_an_error_that_names_the_nearest(task):
    assert {"data", "edition", "context_budget", "provenance"} <= set(task.options)
    expected = (
        f"option of {task.name}: got 'context_bugdet', expected one of .*'data'.*; did you mean 'context_budget'\\?$"
    )
    with pytest.raises(OptionError, match=expected):
        task.documents(edition="embedded", context_bugdet=2000)


def test_in_the_harness_it_is_one_warning_that_names_the_nearest(task, caplog):
    for _ in range(2):  # a group loads many tasks
        loaded(task, context_bugdet=2000)
    (message,) = caplog.messages
    nearest = f"tasks of {task.family} do not read the option 'context_bugdet'; did you mean 'context_budget'?"
    assert message == nearest


def test_what_may_be_for_the_model_is_not_said(task, caplog):
    loaded(task, qqqq=3, n=3, k=5, revision="main", max_length=100_000, dtype="float32", device="cpu", models="x")
    assert not caplog.messages


@pytest.mark.parametrize(
    ("options", "place"),
    [
        ({"data": "https://me:correct-horse@host/data.jsonl"}, "--metadata or --model_args.data"),
        ({"name": "sk-0123456789abcdef0123"}, "--metadata or --model_args.name"),
        ({"my_password": "correct horse"}, "--metadata or --model_args.my_password"),
        ({"api_key": "sk-0123456789abcdef0123"}, "--metadata or --model_args.api_key"),
    ],
)
def test_a_secret_is_refused_before_the_run_and_never_shown(task, options, place):
    with pytest.raises(InputError) as error:
        loaded(task, **options)
    said = str(error.value)
    assert said.startswith(f"{place}: got ") and "(not shown), expected the name of an environment variable" in said
    assert "horse" not in said and "sk-" not in said


# --- the command line ---


@pytest.mark.slow
def test_an_ordinary_run_of_a_checkpoint_says_nothing(run_installed, tmp_path, tiny_model):
    arguments = (
        f"--tasks tls_open_closed_book,summ_dialogsum --model_args pretrained={tiny_model},dtype=float32,"
        "max_length=512,attn_implementation=eager,trust_remote_code=False,add_bos_token=False,revision=main "
        "--gen_kwargs max_gen_toks=8 --device cpu --limit 1"
    )
    done, _, _ = run_installed(tmp_path, "hf", arguments)
    assert "tls_tasks.hosts.lm_eval" not in done.stderr and "do not read" not in done.stderr


@pytest.mark.slow
def test_an_ordinary_run_of_an_endpoint_says_nothing_and_a_slip_is_named(run_installed, tmp_path, server):
    server.answers[""] = "I can't."
    arguments = (
        f"--tasks tls_open,tree_extraction --model_args model=acme/table,base_url={server.url},num_concurrent=2,"
        "tokenizer_backend=None,max_retries=1,timeout=30,eos_string=x,max_length=4096,tokenized_requests=False "
        "--apply_chat_template --limit 1"
    )
    slip = '--metadata {"context_bugdet":900,"context_budget":5000}'
    done, results, _ = run_installed(tmp_path, "local-chat-completions", f"{arguments} {slip}")
    said = "do not read the option 'context_bugdet'; did you mean 'context_budget'?"
    assert done.stderr.count(said) == done.stderr.count("do not read") == 2  # once a family, and nothing else
    assert results["configs"]["tls_open"]["metadata"]["context_budget"] == 5000
