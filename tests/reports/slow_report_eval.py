"""report_eval the slow and obvious way: one sentence after the other, one question after the other."""

from math import nan


def outcome(sentence, earlier, pairs, unanswerable, known, say):
    """(score, support, citations, pairs given, earns recall, earns coverage) of one sentence."""
    text, cited = sentence["text"], list(dict.fromkeys(sentence.get("citations", [])))

    def given(wanted):
        return {pair: say("nugget_agreement", text, *pair) for pair in wanted}

    if cited:
        holds = {doc: say("citation_support", text, doc) if doc in known else False for doc in cited}
        values = list(holds.values())
        if values.count(False) == len(values):
            return -1, False, holds, {}, False, False
        found = given(pairs)
        if False in values:
            return -1, False, holds, found, False, True in values
        if None in values:
            return None, None, holds, found, False, True in values
        score = None if None in found.values() else list(found.values()).count(True)
        return score, True, holds, found, True, True
    negative = say("negative", text)
    if negative is None:
        return None, None, {}, given(pairs), False, False
    if negative:
        found = given([*pairs, *unanswerable])
        values = list(found.values())
        score = 1 if True in values else None if None in values else -1
        return score, None, {}, {pair: value for pair, value in found.items() if pair in pairs}, True, True
    required = say("requires_citation", text)
    if required is None or required is False:
        return (None if required is None else 0), None, {}, {}, False, False
    texts = [one["text"] for one in earlier]
    cited_texts = [one["text"] for one in earlier if one.get("citations")]
    new = say("first_instance", text, tuple(texts)) if texts else True
    if new is True:
        new_to_cited = new
    else:
        new_to_cited = say("first_instance", text, tuple(cited_texts)) if cited_texts else True
        if new_to_cited is False:
            new = False
    return {True: -1, False: 0, None: None}[new_to_cited], (False if new else None), {}, {}, False, False


def results(report, request, known, say):
    """The scores of the sentences, and each ratio; NaN where it is undefined."""
    pairs = list(
        dict.fromkeys((item["question_text"], text) for item in request["items"] for text in item["gold_answers"])
    )
    unanswerable = [
        (item["question_text"], "It is not known.") for item in request["items"] if not item["gold_answers"]
    ]
    asked = {}

    def note(kind, *parts):
        asked[kind, parts] = say(kind, *parts)
        return asked[kind, parts]

    outcomes = [
        outcome(sentence, report["sentences"][:index], pairs, unanswerable, known, note)
        for index, sentence in enumerate(report["sentences"])
    ]
    scores = [one[0] for one in outcomes]
    found = {pair for one in outcomes if one[4] for pair, value in one[3].items() if value}
    covered = {pair for one in outcomes if one[5] for pair, value in one[3].items() if value}
    questions = {}
    for item in request["items"]:
        if item["gold_answers"]:
            questions.setdefault(item["question_text"], []).append(item)
    weights = {
        question: max(2 if item["info"]["importance"] == "vital" else 1 for item in items)
        for question, items in questions.items()
    }
    reported, met = (
        {one for one in questions if any(pair[0] == one for pair in pairs_of)} for pairs_of in (found, covered)
    )
    rewarded, penalized = sum((one or 0) > 0 for one in scores), sum((one or 0) < 0 for one in scores)
    supports = [one[1] for one in outcomes if one[1] is not None]
    citations = [value for one in outcomes for value in one[2].values() if value is not None]
    values = {
        "recall": (len(reported), len(questions)),
        "precision": (rewarded, rewarded + penalized) if request["items"] else (0, 0),
        "sentence_support": (supports.count(True), len(supports)),
        "citation_support": (citations.count(True), len(citations)),
        "nugget_coverage": (len(met), len(questions)),
        "nugget_coverage_weighted": (sum(weights[one] for one in met), sum(weights.values())),
    }
    nuggets = [value for (kind, _), value in asked.items() if kind == "nugget_agreement"]
    unknown = ["recall", "nugget_coverage", "nugget_coverage_weighted"] if set(nuggets) == {None} else []
    for key in values if asked and set(asked.values()) == {None} else unknown:
        values[key] = (0, 0)
    return scores, {key: hits / of if of else nan for key, (hits, of) in values.items()}
