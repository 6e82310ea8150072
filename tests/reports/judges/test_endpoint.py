"""The judge of an endpoint against a real server on loopback that delays, refuses, drops, hangs and talks nonsense.

A busy machine may be slow to answer, so that a try can time out though the server is well. Where a test counts tries,
it waits for answers as long as it takes.
"""

import asyncio
import gzip
import itertools
import json
import logging
import socket
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.reports.judges.server import completion, truth
from tls_tasks.core.errors import InputError, JudgeError, OptionError
from tls_tasks.reports.judges import ChatJudge
from tls_tasks.reports.judges import endpoint as endpoints
from tls_tasks.reports.judges.client import LIMIT
from tls_tasks.reports.types import Query

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
SHORT = 0.3  # seconds: the timeout where a server hangs and tries are not counted


def queries(n, start=0):
    return [Query("negative", {"sentence": f"Sentence {number}."}, {"sentence": number}) for number in range(start, n)]


def words(verdicts):
    return [{True: "YES", False: "NO", None: verdict.reason}[verdict.value] for verdict in verdicts]


def right(n):
    return [truth(f"Sentence {number}.") for number in range(n)]


def judge(server, **options):
    return ChatJudge(server.url, "m", **options)


def test_every_question_is_answered_in_order_with_no_more_than_the_limit_in_flight(serve):
    server = serve(latency=0.02)
    one = judge(server, max_in_flight=5)
    assert words(one.ask(queries(60))) == right(60)
    assert 1 < server.most_in_flight <= 5
    request = server.requests[0]
    assert request["model"] == "m" and request["temperature"] == 0 and request["max_tokens"] == 512
    assert one.stats == {
        "asked": 60, "cached": 0, "answered": 60, "failed": 0, "tries": 60,
        "prompt_tokens": 6000, "completion_tokens": 120,
    }  # fmt: skip


def test_the_same_question_is_asked_once_however_often_it_comes(serve):
    server = serve()
    one = judge(server)
    first = one.ask([*queries(3), *queries(3)])
    assert words(first) == right(3) * 2 and len(server.requests) == 3
    again = one.ask(queries(4))
    assert words(again) == right(4) and len(server.requests) == 4
    assert [verdict.cached for verdict in again] == [True, True, True, False]
    assert (one.stats["asked"], one.stats["cached"], one.stats["tries"]) == (10, 3, 4)
    assert (one.stats["prompt_tokens"], one.stats["completion_tokens"]) == (400, 8)


GARBAGE = {
    "no JSON": (200, b"\xff\x00garbage", {}),
    "JSON of another kind": (200, {"answer": "YES"}, {}),
    "deep JSON": (200, b"[" * 100_000, {}),
    "a list": (200, [], {}),
    "nothing": (200, b"", {}),
    "no gzip": (200, b"YES", {"Content-Encoding": "gzip"}),
}
TROUBLES = {
    "500": ((500, {"error": {"message": "oh"}}, {}), "server"),
    "503": ((503, b"<html>busy</html>", {}), "server"),
    "429": ((429, {"error": {"message": "slow down"}}, {"Retry-After": "0.02"}), "rate_limit"),
    "408": ((408, b"", {}), "server"),
    "409": ((409, b"", {}), "server"),
    **{name: (answer, "garbage") for name, answer in GARBAGE.items()},
    "an error in a good answer": ((200, {**completion("YES"), "error": {"message": "upstream"}}, {}), "garbage"),
    "a dropped connection": ("drop", "connection"),
    "no HTTP": ((200, b"", {"Content-Length": "x"}), "connection"),
    "a cut answer": ((200, completion("YES"), {"Content-Length": "9999", "Connection": "close"}), "connection"),
}


@pytest.mark.parametrize("trouble", TROUBLES)
def test_trouble_that_passes_costs_no_verdict_and_what_stays_is_unscored_with_its_reason(serve, trouble, caplog):
    answer, reason = TROUBLES[trouble]
    server = serve(lambda sentence, n_before, _: answer if n_before < 2 else truth(sentence))
    one = judge(server)
    assert words(one.ask(queries(8))) == right(8)
    assert set(server.asked.values()) == {3} and one.stats["tries"] == 24
    server = serve(lambda sentence, *_: answer if "3" in sentence else truth(sentence))
    one = judge(server, max_tries=2)
    with caplog.at_level(logging.WARNING):
        verdicts = one.ask(queries(5))
    assert words(verdicts) == [*right(3), reason, "YES"]
    assert server.asked["Sentence 3."] == 2
    assert one.stats["failed"] == 1 and len(one.cache) == 4
    assert f"1 of 5 questions without a verdict: {reason} 1; the first: " in caplog.text
    server.answer = lambda sentence, *_: truth(sentence)
    n_before = len(server.requests)
    assert words(one.ask(queries(5))) == right(5) and len(server.requests) == n_before + 1
    server.answer = lambda *_: answer
    assert words(one.ask(queries(7, 5))) == [reason] * 2 and one.stats["failed"] == 3


SLOW = {
    "a hang": "hang",
    "a cut answer on an open connection": (200, completion("YES"), {"Content-Length": "9999"}),
    "a slow drip": "drip",
    "a slow drip of headers": "drip headers",
}


@pytest.mark.parametrize("trouble", SLOW)
def test_what_takes_too_long_is_given_up_and_tried_again_and_the_timeout_holds_for_a_try_as_a_whole(serve, trouble):
    server = serve(lambda sentence, n_before, _: SLOW[trouble] if n_before == 0 else truth(sentence))
    one = judge(server, timeout=SHORT, max_tries=50)
    assert words(one.ask(queries(4))) == right(4)
    assert min(server.asked.values()) >= 2
    server.answer = lambda *_: SLOW[trouble]
    one = judge(server, timeout=SHORT, max_tries=1)
    verdicts = one.ask(queries(3))  # a drip that is waited for becomes an answer
    assert words(verdicts) == ["timeout"] * 3 and "no answer within 0.3 s" in verdicts[0].raw


@pytest.mark.parametrize(
    ("content", "headers"),
    [(gzip.compress(bytes(20 * LIMIT)), {"Content-Encoding": "gzip"}), (bytes(2 * LIMIT), {})],
    ids=["a bomb", "an answer without end"],
)
def test_what_is_too_much_is_not_read_to_its_end(serve, content, headers):
    server = serve(lambda *_: (200, content, headers))
    one = judge(server, max_tries=1)
    tracemalloc.start()
    try:
        assert words(one.ask(queries(1))) == ["garbage"]
        assert not headers or tracemalloc.get_traced_memory()[1] < LIMIT  # the server's own copy is in it
    finally:
        tracemalloc.stop()
    assert server.headers[0][b"accept-encoding"] == b"identity"


@pytest.mark.parametrize("status", [400, 401, 404, 422])
def test_a_server_that_refuses_stops_the_run_at_once_in_its_own_words(serve, status):
    server = serve(lambda *_: (status, {"error": {"message": "No model m here,\n friend sk-secret"}}, {}), latency=0.02)
    one = judge(server, api_key="sk-secret", max_in_flight=4)
    with pytest.raises(JudgeError) as caught:
        one.ask(queries(50))
    assert str(caught.value) == f"judge m at {server.url}: refused with {status}: No model m here, friend ***"
    assert len(server.requests) <= 8  # at most two rounds


def test_the_key_is_sent_and_not_shown(serve, caplog):
    server = serve(lambda *_: (500, b"key sk-Secret1 is bad", {}))
    one = judge(server, api_key="sk-Secret1", max_tries=1)
    with caplog.at_level(logging.DEBUG):
        verdicts = one.ask(queries(2))
    assert server.headers[0][b"authorization"].endswith(b"sk-secret1")
    assert "sk-Secret1" not in f"{verdicts} {one.name} {caplog.text}" and "key *** is bad" in verdicts[0].raw
    for bad in ("", "sk 1\n", "ключ", " sk"):
        with pytest.raises(InputError) as caught:
            ChatJudge(server.url, "m", api_key=bad)
        assert bad.strip() == "" or bad.strip() not in str(caught.value)


def test_without_a_key_that_of_the_environment_is_not_sent(serve, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-environment")
    server = serve()
    assert words(judge(server).ask(queries(2))) == right(2)
    assert {headers[b"authorization"] for headers in server.headers} == {b"bearer none"}


@pytest.mark.parametrize("code", ["content_filter", "context_length_exceeded"])
def test_a_refusal_of_one_question_is_an_unscored_verdict(serve, code):
    refusal = (400, {"error": {"message": "no", "code": code}}, {})
    server = serve(lambda sentence, *_: refusal if "2" in sentence else truth(sentence))
    assert words(judge(server).ask(queries(4))) == ["YES", "NO", "refused", "NO"]
    assert server.asked["Sentence 2."] == 1


def test_no_money_stops_the_run_though_the_status_says_to_try_again(serve):
    server = serve(lambda *_: (429, {"error": {"message": "pay first", "code": "insufficient_quota"}}, {}))
    with pytest.raises(JudgeError, match="refused with 429: pay first"):
        judge(server).ask(queries(3))
    assert set(server.asked.values()) == {1}


def test_after_enough_failures_in_a_row_the_judge_is_down_and_the_next_call_finds_out_whether_still(serve, monkeypatch):
    monkeypatch.setattr(endpoints, "GIVE_UP_AFTER", 3)
    server = serve(lambda *_: (500, b"down", {}))
    one = judge(server, max_tries=2, max_in_flight=2)
    verdicts = one.ask(queries(100))
    assert {verdict.value for verdict in verdicts} == {None}
    assert set(words(verdicts)) == {"server", "down"} and words(verdicts).count("down") > 90
    n_tries = len(server.requests)
    assert n_tries <= 8 and one.stats["failed"] == 100 and len(one.cache) == 0
    one.ask(queries(50))
    assert len(server.requests) <= n_tries + 4  # two questions in flight, twice each
    server.answer = lambda sentence, *_: truth(sentence)
    assert words(one.ask(queries(100))) == right(100)


def test_a_server_that_nobody_reaches_is_named_once_and_soon(caplog, monkeypatch):
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.5)  # as it is without these tests
    with socket.create_server(("127.0.0.1", 0)) as closed:
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/v1"
    started = ChatJudge(url, "m")  # with the tries and seconds that it has by itself
    with caplog.at_level(logging.WARNING), pytest.raises(JudgeError, match=f"^judge m at {url} can't be reached: .+$"):
        started.ask(queries(8))
    assert not caplog.text and started.stats["tries"] <= 4 * 8


def test_failures_that_are_not_in_a_row_do_not_stop_a_judge(serve, monkeypatch):
    monkeypatch.setattr(endpoints, "GIVE_UP_AFTER", 2)
    server = serve(lambda sentence, *_: (500, b"", {}) if int(sentence[9:-1]) % 3 == 0 else truth(sentence))
    verdicts = judge(server, max_tries=1, max_in_flight=1).ask(queries(30))
    assert words(verdicts) == [word if number % 3 else "server" for number, word in enumerate(right(30))]


PLACE = {"Location": "https://elsewhere.org/v1"}
CUT = {**completion("YES, since"), "choices": [{"message": {"content": "YES, since"}, "finish_reason": "length"}]}
THOUGHT = {"choices": [{"message": {"content": None, "reasoning_content": "Hm, YES"}}]}
CALLED = {"choices": [{"message": {"content": "", "tool_calls": [{"id": "1"}]}}]}


@pytest.mark.parametrize(("answer", "reason", "words"), [
    ((200, CUT, {}), "cut by max_tokens", "YES, since"),
    ((200, THOUGHT, {}), "only reasoning_content", ""),
    ((200, CALLED, {}), "only tool_calls", ""),
])  # fmt: skip
def test_why_there_is_no_verdict_is_said_once_and_asked_for_once(serve, caplog, answer, reason, words):
    server = serve(lambda *_: answer)
    (verdict,) = judge(server).ask(queries(1))
    assert verdict[:3] == (None, reason, words) and len(server.requests) == 1
    assert [text.partition("the first: ")[2] for text in caplog.messages if "the first" in text] == [words or reason]


def test_a_limit_on_requests_says_how_long_it_holds(serve):
    (verdict,) = judge(serve(lambda *_: (429, b"", {"Retry-After": "3600"})), max_tries=1).ask(queries(1))
    assert verdict[:3] == (None, "rate_limit", "429 Too Many Requests (retry after 3600 s)")


def test_a_redirect_says_where_to(serve):
    server = serve(lambda *_: (307, b"<html>moved</html>", PLACE))
    with pytest.raises(JudgeError, match=r"refused with 307: it is redirected to https://elsewhere\.org/v1"):
        judge(server).ask(queries(1))


@pytest.mark.parametrize("header", [{"Retry-After": "0.2"}, {"Retry-After-Ms": "200"}])
def test_retry_after_is_obeyed(serve, header):
    times = []

    def answer(sentence, n_before, _):
        times.append(time.monotonic())
        return (429, b"", header) if len(times) == 1 else truth(sentence)

    assert words(judge(serve(answer)).ask(queries(1))) == right(1)
    assert times[1] - times[0] >= 0.19


def test_an_answer_that_cannot_be_read_is_asked_for_once_more(serve):
    def answer(sentence, n_before, messages):
        if len(messages) == 1:
            return "<think>YES or NO</think> I am not sure about that"
        assert [message["role"] for message in messages] == ["user", "assistant", "user"]
        assert messages[1]["content"] == "I am not sure about that"
        return truth(sentence) if "1" in sentence else "Still not sure"

    server = serve(answer)
    verdicts = judge(server).ask(queries(2))
    assert words(verdicts) == ["unreadable", "NO"] and verdicts[0].raw == "Still not sure"
    assert len(server.requests) == 4


@pytest.mark.parametrize("nothing", [None, "", "<think>so"])
def test_no_words_at_all_are_asked_for_once_more_without_an_empty_message(serve, nothing):
    def answer(sentence, n_before, messages):
        assert len(messages) == 1 and messages[0]["content"]
        return (200, completion(nothing), {}) if n_before == 0 else truth(sentence)

    server = serve(answer)
    assert words(judge(server).ask(queries(2))) == right(2)
    assert server.requests[-1]["messages"][0]["content"].endswith("YES or NO, and nothing else.")


def test_answers_in_parts_and_strange_usage_are_read(serve):
    def answer(sentence, *_):
        body = completion([{"type": "reasoning"}, {"type": "text", "text": truth(sentence)}])
        return 200, {**body, "usage": {"prompt_tokens": "many", "completion_tokens": -1}}, {}

    one = judge(serve(answer))
    assert words(one.ask(queries(3))) == right(3) and one.stats["prompt_tokens"] == 0


def test_half_a_surrogate_pair_and_a_million_characters_do_no_harm(serve):
    server = serve(lambda sentence, *_: "\ud800" * 10 + "x " * 500_000 + "not sure \udfff")
    one = judge(server)
    text = "Sentence 1 \ud800 \x00 " + "long " * 200_000
    (verdict,) = one.ask([Query("negative", {"sentence": text})])
    assert verdict.reason == "unreadable" and len(verdict.raw) <= 200 and verdict.raw.encode()


def test_it_works_where_a_loop_is_running_already(serve):
    server = serve()

    async def notebook():
        return judge(server).ask(queries(5))

    # In a thread of its own: Playwright, which other tests use, leaves a loop running in this one.
    with ThreadPoolExecutor(1) as threads:
        assert words(threads.submit(asyncio.run, notebook()).result()) == right(5)


def test_threads_may_share_a_judge(serve):
    server = serve(latency=0.005)
    one = judge(server)
    with ThreadPoolExecutor(4) as threads:
        parts = threads.map(lambda part: words(one.ask(queries(10 * part + 10, 10 * part))), range(4))
        assert list(itertools.chain(*parts)) == right(40)
    assert one.stats["answered"] == 40 and server.most_in_flight <= 16


def test_nothing_is_sent_for_questions_that_no_prompt_fits(serve):
    server = serve()
    with pytest.raises(OptionError, match="kind: got 'relevance'"):
        judge(server).ask([*queries(2), Query("relevance", {"sentence": "s"})])
    with pytest.raises(KeyError, match="answer"):
        judge(server).ask([Query("nugget_agreement", {"sentence": "s", "question": "q"})])
    assert judge(server).ask([]) == [] and not server.requests


@pytest.mark.parametrize(("arguments", "message"), CASES["test_wrong_arguments_are_named"])
def test_wrong_arguments_are_named(arguments, message):
    with pytest.raises(InputError, match=message):
        ChatJudge(**{"url": "http://localhost/v1", "model": "m", **arguments})


def test_parameters_are_sent_named_and_part_of_what_is_the_same_question(serve, tmp_path):
    server = serve()
    one = judge(server, cache=tmp_path / "c", parameters={"max_tokens": None, "max_completion_tokens": 9, "seed": 1})
    one.ask(queries(1))
    assert "max_tokens" not in server.requests[0] and server.requests[0]["max_completion_tokens"] == 9
    assert one.name.startswith("m@127.0.0.1,max_completion_tokens:9,max_tokens:None,seed:1,prompts:")
    judge(server, cache=tmp_path / "c").ask(queries(1))
    ChatJudge(server.url, "other", cache=tmp_path / "c").ask(queries(1))
    assert len(server.requests) == 3
    ChatJudge(f"{server.url}/chat/completions/", "m", cache=tmp_path / "c").ask(queries(2))
    assert len(server.requests) == 4


def test_a_server_that_echoes_gives_no_verdict(serve):
    server = serve(lambda sentence, n, messages: "\n".join(message["content"] for message in messages))
    assert words(judge(server).ask(queries(3))) == ["unreadable"] * 3 and len(server.requests) == 6


def test_a_verdict_in_json_is_read(serve):
    def answer(sentence, n, messages):
        return json.dumps({"verdict": truth(sentence)})

    server = serve(answer)
    assert words(judge(server).ask(queries(4))) == right(4)
