"""The NLI judge with a tiny model made here: real tokens, real windows, random weights."""

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from tls_tasks.core.errors import InputError  # noqa: E402
from tls_tasks.reports.judges import ByKind, NliJudge, from_callable  # noqa: E402
from tls_tasks.reports.types import Query, Verdict  # noqa: E402

pytestmark = pytest.mark.slow
WORDS = "police clash protest talks end without result in cairo on monday the a".split()


def make_model(folder, labels=("CONTRADICTION", "neutral", "Entailment"), n_positions=40):
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    vocabulary = {word: number for number, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]"
    ).save_pretrained(folder)
    torch.manual_seed(3)
    config = transformers.BertConfig(
        vocab_size=len(vocabulary), hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64,
        max_position_embeddings=n_positions, id2label=dict(enumerate(labels)), initializer_range=0.5,
    )  # fmt: skip
    transformers.BertForSequenceClassification(config).save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return make_model(tmp_path_factory.mktemp("nli"))


def support(document, sentence="talks end in cairo"):
    return Query("citation_support", {"document": document, "sentence": sentence})


def direct(model, document, sentence="talks end in cairo"):
    """The probability of entailment of a short document, without the judge."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(model)
    network = transformers.AutoModelForSequenceClassification.from_pretrained(model).eval()
    with torch.inference_mode():
        return network(**tokenizer(document, sentence, return_tensors="pt")).logits.softmax(-1)[0, 2].item()


def test_short_documents_have_the_models_own_probability(model):
    documents = ["police clash on monday", "the talks", "", "a protest in cairo without the police " * 3]
    verdicts = NliJudge(model, batch_size=2).ask([support(document) for document in documents])
    expected = [direct(model, document) for document in documents]
    assert [verdict.probability for verdict in verdicts] == pytest.approx(expected, abs=1e-5)
    assert [verdict.value for verdict in verdicts] == [probability >= 0.5 for probability in expected]
    assert len({round(probability, 3) for probability in expected}) == 4


def test_a_long_document_is_as_good_as_its_best_window(model):
    words = [WORDS[number * 7 % 11] for number in range(200)]
    judge = NliJudge(model)
    room, step = 40 - 4 - 3, 40 - 4 - 3 - 8
    windows = [words[start : start + room] for start in range(0, 200 - 8, step)]
    (verdict,) = judge.ask([support(" ".join(words))])
    assert verdict.probability == pytest.approx(max(direct(model, " ".join(window)) for window in windows), abs=1e-5)


def test_other_kinds_are_left_to_other_judges(model):
    judge = NliJudge(model)
    other = Query("negative", {"sentence": "s"})
    assert judge.ask([other, support("the talks")])[0] == Verdict(None, "unsupported")
    both = ByKind({"citation_support": judge}, from_callable(lambda query: True, "other"))
    assert both.name.startswith("custom(other)") and both.name.endswith(f",citation_support=nli:{model}")
    assert both.ask([other, support("the talks")])[0].value is True and judge.ask([]) == []


def test_equal_questions_are_read_once_and_long_sentences_and_strange_text_do_no_harm(model):
    judge = NliJudge(model, max_length=16)
    sizes = []
    judge._model.register_forward_hook(
        lambda module, args, kwargs, output: sizes.append(output.logits.shape[0]), with_kwargs=True
    )
    first, again, *_ = judge.ask([support("the talks"), support("the talks"), support("\ud800 中文", "\udfff " * 300)])
    assert first == again and sum(sizes) == 2


def test_a_model_without_entailment_is_named(tmp_path):
    folder = make_model(tmp_path, labels=("negative", "positive"))
    with pytest.raises(InputError, match=r"model: got .*: \['negative', 'positive'\], expected a label that begins"):
        NliJudge(folder)
