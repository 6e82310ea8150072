"""A real small judge: the tiny local model by loglikelihood."""

import math

import pytest

from tests.harness_parts import make_tiny_model
from tls_tasks.hosts.judges import HarnessJudge
from tls_tasks.reports.judges.prompts import render
from tls_tasks.reports.types import Query, Verdict

pytest.importorskip("lm_eval")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

QUERIES = [
    Query("negative", {"sentence": f"Police clash with protesters in Cairo on day {number}."}) for number in range(4)
]
QUERIES += [Query("citation_support", {"document": "Police clash in Cairo.", "sentence": "Police clash."}), QUERIES[0]]


@pytest.fixture(scope="module")
def lm(tmp_path_factory):
    from lm_eval.models.huggingface import HFLM

    folder = tmp_path_factory.mktemp("wide")
    make_tiny_model(folder, context=2048)
    return HFLM(pretrained=str(folder), device="cpu", batch_size=2)


class Likelihoods:
    """A model that says what it is told."""

    def __init__(self, *answers):
        self.answers = answers

    def loglikelihood(self, requests):
        self.requests = requests
        return [(value, False) for value in self.answers]


def test_the_tiny_model_judges(lm):
    import torch

    judge = HarnessJudge(lm)
    verdicts = judge.ask(QUERIES)
    assert verdicts == judge.ask(QUERIES) and verdicts[0] == verdicts[-1]
    for query, verdict in zip(QUERIES, verdicts, strict=True):
        assert verdict.value is (verdict.probability >= 0.5) and 0 < verdict.probability < 1
        tokens = lm.tok_encode(render(query)[0]["content"] + "\n\nAnswer:")
        likelihoods = []
        for word in (" YES", " NO"):
            continuation = lm.tok_encode(word, add_special_tokens=False)
            ids = tokens + continuation
            with torch.inference_mode():
                scores = lm.model(torch.tensor([ids[:-1]])).logits.log_softmax(-1)[0, -len(continuation) :]
            likelihoods.append(sum(scores[place, token].item() for place, token in enumerate(continuation)))
        expected = 1 / (1 + math.exp(likelihoods[1] - likelihoods[0]))
        assert verdict.probability == pytest.approx(expected, abs=1e-4)
    assert judge.name.startswith("HFLM:") and ",loglikelihood,prompts:" in judge.name


def test_a_chat_template_changes_the_prompt(lm):
    plain, chat = HarnessJudge(lm, name="tiny"), HarnessJudge(lm, chat=True, name="tiny")
    assert chat.name == plain.name.replace("loglikelihood", "loglikelihood,chat")
    assert chat.ask(QUERIES) != plain.ask(QUERIES)


def test_nothing_is_invented():
    model = Likelihoods(-1.0, -2.0, -3.0, -1.0, float("nan"), -1.0, -math.inf, -math.inf)
    verdicts = HarnessJudge(model).ask(QUERIES[:4])
    assert [verdict.value for verdict in verdicts] == [True, False, None, None]
    assert verdicts[2] == Verdict(None, "unreadable", "NaN") and len(model.requests) == 8
    assert [request.args[1] for request in model.requests[:2]] == [" YES", " NO"]
    assert model.requests[0].args[0].endswith("Answer with one word, YES or NO.\n\nAnswer:")
    assert HarnessJudge(model).ask([]) == []


def test_a_model_without_likelihoods_says_so():
    from tls_tasks.hosts.models import LeadLM

    with pytest.raises(NotImplementedError, match="gives no likelihoods"):
        HarnessJudge(LeadLM()).ask(QUERIES)


def test_what_the_model_would_not_read_whole_has_no_verdict(lm):
    document = " ".join(f"Police clash with protesters in Cairo on day {number}." for number in range(200))
    long = Query("citation_support", {"document": document, "sentence": "Police clash."})
    before, verdict, after = HarnessJudge(lm).ask([QUERIES[0], long, QUERIES[1]])
    assert verdict == Verdict(None, "too long")
    assert [before, after] == HarnessJudge(lm).ask(QUERIES[:2])
