"""Judges by the name of their provider: which address and key are used, and what is said without a key."""

import subprocess
import sys

import pytest

from tests.conftest import ROOT
from tls_tasks.core.errors import InputError, OptionError
from tls_tasks.reports.judges import ModelProvider, from_provider
from tls_tasks.reports.judges.choose import read_key
from tls_tasks.reports.types import Query

QUERIES = [Query("negative", {"sentence": f"Sentence {number}."}) for number in range(6)]
VARIABLES = ("OPENAI_API_KEY", "TOGETHER_API_KEY", "ANTHROPIC_API_KEY")


@pytest.fixture(autouse=True)
def no_keys(monkeypatch, tmp_path):
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("provider", ["openai", *ModelProvider])
def test_providers_are_asked_with_their_key(serve, monkeypatch, provider):
    server = serve()
    monkeypatch.setenv(f"{ModelProvider(provider).value.upper()}_API_KEY", "sk-test")
    judge = from_provider(provider, "some/model", base_url=server.url, cache="v.sqlite")
    assert [verdict.value for verdict in judge.ask(QUERIES)] == [True, False] * 3
    assert server.headers[0][b"authorization"] == b"bearer sk-test" and server.requests[0]["model"] == "some/model"
    assert judge.name.startswith(f"{ModelProvider(provider).value}/some/model,prompts:")


def test_the_addresses_are_the_providers_own():
    urls = ["https://api.openai.com/v1", "https://api.together.xyz/v1", "https://api.anthropic.com/v1"]
    names = ("openai", "together", "anthropic")
    assert [from_provider(name, "m", api_key="k").url for name in names] == urls


def test_an_unknown_provider_and_a_missing_key_are_named(tmp_path):
    with pytest.raises(OptionError, match="provider: got 'mistral', expected one of 'together', 'openai', 'anthropic'"):
        from_provider("mistral", "m")
    with pytest.raises(OptionError, match="provider: got None"):
        from_provider(None, "m")
    with pytest.raises(InputError, match=r"OPENAI_API_KEY: got nothing, expected a key in the environment or in \.env"):
        from_provider("openai", "m")
    with pytest.raises(InputError, match="model: got ''"):
        from_provider("openai", "", api_key="k")


def test_keys_are_read_from_the_environment_first_and_from_env_then(tmp_path, monkeypatch):
    text = (
        "# keys\nOPENAI_API_KEY=sk-plain # mine\nexport TOGETHER_API_KEY='sk quoted'\n"
        'ANTHROPIC_API_KEY="sk#1"\n\nEMPTY=\nNOT AN ASSIGNMENT\nRUN=$(touch evil)`touch evil`${HOME}\nLAST = x\n'
    )
    (tmp_path / ".env").write_text(text)
    keys = {"OPENAI_API_KEY": "sk-plain", "TOGETHER_API_KEY": "sk quoted", "ANTHROPIC_API_KEY": "sk#1", "LAST": "x"}
    for variable, value in {**keys, "RUN": "$(touch evil)`touch evil`${HOME}"}.items():
        assert read_key(variable) == value
    assert not (tmp_path / "evil").exists()
    monkeypatch.setenv("OPENAI_API_KEY", "sk-environment")
    assert read_key("OPENAI_API_KEY") == "sk-environment"
    with pytest.raises(InputError, match="EMPTY: got nothing"):
        read_key("EMPTY")
    (tmp_path / ".env").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="LAST: got nothing"):
        read_key("LAST")


def test_the_package_is_imported_without_anything_heavy():
    code = (
        "import sys; import tls_tasks.reports.judges; "
        "heavy = {'httpx', 'torch', 'transformers', "
        "'openai', 'numpy', 'pyarrow', 'tqdm', 'datasets'}; print(heavy & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
