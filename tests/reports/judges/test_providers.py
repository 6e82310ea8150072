"""Judges by the name of their provider: whose protocol is spoken, with which key, and what is said without one."""

import importlib.util
import subprocess
import sys

import pytest

from tests.conftest import ROOT
from tests.reports.judges.server import truth
from tls_tasks.core.errors import InputError, JudgeError, MissingExtraError, OptionError
from tls_tasks.reports.judges import ModelProvider, from_provider
from tls_tasks.reports.judges.environment import read_env, read_key
from tls_tasks.reports.types import Query

QUERIES = [Query("negative", {"sentence": f"Sentence {number}."}) for number in range(6)]
VARIABLES = ("OPENAI_API_KEY", "TOGETHER_API_KEY", "ANTHROPIC_API_KEY")
WITH_LITELLM = importlib.util.find_spec("litellm") is not None


@pytest.fixture(autouse=True)
def no_keys(monkeypatch, tmp_path):
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.chdir(tmp_path)


def values(verdicts):
    return [verdict.value for verdict in verdicts]


@pytest.mark.parametrize("provider", ["openai", "together", ModelProvider.OPENAI, ModelProvider.TOGETHER])
def test_providers_of_openais_protocol_are_asked_with_their_key(serve, monkeypatch, provider):
    server = serve()
    monkeypatch.setenv(f"{ModelProvider(provider).value.upper()}_API_KEY", "sk-test")
    judge = from_provider(provider, "some/model", base_url=server.url, cache="v.sqlite")
    assert values(judge.ask(QUERIES)) == [True, False] * 3
    assert server.headers[0][b"authorization"] == b"bearer sk-test" and server.requests[0]["model"] == "some/model"
    assert judge.name.startswith(f"{ModelProvider(provider).value}/some/model,prompts:")


def test_the_addresses_are_the_providers_own():
    for provider, host in (("openai", "https://api.openai.com/v1"), ("together", "https://api.together.xyz/v1")):
        assert repr(from_provider(provider, "m", api_key="k")._server) == f"Endpoint({host!r}, 'm')"


def test_an_unknown_provider_and_a_missing_key_are_named(tmp_path):
    with pytest.raises(OptionError, match="provider: got 'mistral', expected one of 'together', 'openai', 'anthropic'"):
        from_provider("mistral", "m")
    with pytest.raises(OptionError, match="provider: got None"):
        from_provider(None, "m")
    with pytest.raises(InputError, match=r"OPENAI_API_KEY: got nothing, expected a key in the environment or in \.env"):
        from_provider("openai", "m")
    with pytest.raises(InputError, match="model: got ''"):
        from_provider("openai", "", api_key="k")
    with pytest.raises(OptionError, match="option: got 'retries'"):
        from_provider("openai", "m", api_key="k", retries=3)


def test_keys_are_read_from_the_environment_first_and_from_env_then(tmp_path, monkeypatch):
    text = (
        "# keys\nOPENAI_API_KEY=sk-plain # mine\nexport TOGETHER_API_KEY='sk quoted'\n"
        'ANTHROPIC_API_KEY="sk#1"\n\nEMPTY=\nNOT AN ASSIGNMENT\nRUN=$(touch evil)`touch evil`${HOME}\nLAST = x\n'
    )
    (tmp_path / ".env").write_text(text)
    assert read_env(tmp_path / ".env") == {
        "OPENAI_API_KEY": "sk-plain",
        "TOGETHER_API_KEY": "sk quoted",
        "ANTHROPIC_API_KEY": "sk#1",
        "EMPTY": "",
        "RUN": "$(touch evil)`touch evil`${HOME}",
        "LAST": "x",
    }
    assert not (tmp_path / "evil").exists()
    assert read_key("OPENAI_API_KEY") == "sk-plain"
    monkeypatch.setenv("OPENAI_API_KEY", "sk-environment")
    assert read_key("OPENAI_API_KEY") == "sk-environment"
    with pytest.raises(InputError, match="EMPTY: got nothing"):
        read_key("EMPTY")
    (tmp_path / ".env").write_bytes(b"\xff\xfe")
    assert read_env(tmp_path / ".env") == {} == read_env(tmp_path)


@pytest.mark.skipif(WITH_LITELLM, reason="litellm is installed")
def test_anthropic_needs_the_extra():
    with pytest.raises(MissingExtraError, match=r"pip install 'tls-tasks\[judge\]'"):
        from_provider("anthropic", "claude", api_key="k")


def anthropic(text):
    return {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude", "stop_reason": "end_turn",
        "content": [{"type": "text", "text": text}], "usage": {"input_tokens": 90, "output_tokens": 3},
    }  # fmt: skip


@pytest.mark.skipif(not WITH_LITELLM, reason="litellm is an extra")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.slow
class TestAnthropic:
    """The real litellm against Anthropic's protocol on loopback."""

    def judge(self, server, **options):
        return from_provider(
            "anthropic", "claude-3-haiku", api_key="sk-test", base_url=server.url.removesuffix("/v1"),
            first_wait=0.01, max_wait=0.05, **options,
        )  # fmt: skip

    def test_it_is_asked_in_its_own_protocol(self, serve):
        server = serve(lambda sentence, *_: (200, anthropic(truth(sentence)), {}))
        judge = self.judge(server)
        assert values(judge.ask(QUERIES)) == [True, False] * 3
        assert server.headers[0][b"x-api-key"] == b"sk-test" and b"anthropic-version" in server.headers[0]
        assert server.requests[0]["max_tokens"] == 512 and server.requests[0]["model"] == "claude-3-haiku"
        assert (judge.stats.prompt_tokens, judge.stats.completion_tokens, judge.stats.tries) == (540, 18, 6)
        assert judge.name.startswith("anthropic/claude-3-haiku,prompts:")

    def test_trouble_that_passes_costs_nothing(self, serve):
        error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
        server = serve(
            lambda sentence, n_before, _: (
                [(529, error, {}), (429, error, {"retry-after": "0.01"}), "drop"][n_before]
                if n_before < 3
                else (200, anthropic(truth(sentence)), {})
            )
        )
        judge = self.judge(server)
        assert values(judge.ask(QUERIES[:2])) == [True, False] and judge.stats.tries == 8

    def test_a_refusal_stops_the_run_in_its_own_words(self, serve):
        error = {"type": "error", "error": {"type": "authentication_error", "message": "invalid x-api-key sk-test"}}
        server = serve(lambda *_: (401, error, {}))
        with pytest.raises(
            JudgeError, match=r"judge claude-3-haiku at anthropic: refused with 401: .*invalid x-api-key"
        ) as caught:
            self.judge(server).ask(QUERIES)
        assert "sk-test" not in str(caught.value) and len(server.requests) <= 6


def test_the_package_is_imported_without_anything_heavy():
    code = (
        "import sys; import tls_tasks.reports.judges, tls_tasks.reports.judges.store; "
        "heavy = {'httpx', 'torch', 'transformers', "
        "'litellm', 'numpy', 'pyarrow', 'tqdm', 'datasets'}; print(heavy & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
