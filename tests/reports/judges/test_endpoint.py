"""The judge of an endpoint against a real server on loopback that delays, refuses, drops, hangs and talks nonsense."""

import asyncio
import itertools
import logging
import threading
import time

import pytest

from tests.reports.judges.server import completion, truth
from tls_tasks.core.errors import InputError, JudgeError, OptionError, TlsTasksError
from tls_tasks.reports.judges import from_endpoint
from tls_tasks.reports.types import Query

QUICK = {"first_wait": 0.01, "max_wait": 0.05}  # a busy machine may take long over an answer: tries are counted


def queries(n, start=0):
    return [Query("negative", {"sentence": f"Sentence {number}."}, {"sentence": number}) for number in range(start, n)]


def words(verdicts):
    return [{True: "YES", False: "NO", None: verdict.reason}[verdict.value] for verdict in verdicts]


def right(n):
    return [truth(f"Sentence {number}.") for number in range(n)]


def judge(server, **options):
    return from_endpoint(server.url, "m", **{**QUICK, **options})


def test_every_question_is_answered_in_order_with_no_more_than_the_limit_in_flight(serve):
    server = serve(latency=0.05)
    one = judge(server, max_in_flight=5)
    assert words(one.ask(queries(60))) == right(60)
    assert server.most_in_flight == 5
    request = server.requests[0]
    assert request["model"] == "m" and request["temperature"] == 0 and request["max_tokens"] == 512
    assert one.stats.as_dict() | {"seconds": 0} == {
        "asked": 60, "distinct": 60, "cached": 0, "answered": 60, "failed": 0, "tries": 60,
        "prompt_tokens": 6000, "completion_tokens": 120, "seconds": 0, "price": None,
    }  # fmt: skip
    assert one.stats.seconds >= 60 / 5 * 0.05


def test_the_same_question_is_asked_once_however_often_it_comes(serve):
    server = serve()
    one = judge(server, prices={"m": (10.0, 100.0)})
    first = one.ask([*queries(3), *queries(3)])
    assert words(first) == right(3) * 2 and len(server.requests) == 3
    again = one.ask(queries(4))
    assert words(again) == right(4) and len(server.requests) == 4
    assert [verdict.cached for verdict in again] == [True, True, True, False]
    assert (one.stats.asked, one.stats.distinct, one.stats.cached, one.stats.tries) == (10, 7, 3, 4)
    assert one.stats.price == pytest.approx(4 * (100 * 10 + 2 * 100) / 1e6)


TROUBLES = {
    "500": ((500, {"error": {"message": "oh"}}, {}), "server"),
    "503": ((503, b"<html>busy</html>", {}), "server"),
    "429": ((429, {"error": {"message": "slow down"}}, {"Retry-After": "0.02"}), "rate_limit"),
    "408": ((408, b"", {}), "server"),
    "409": ((409, b"", {}), "server"),
    "no JSON": ((200, b"\xff\x00garbage", {}), "garbage"),
    "JSON of another kind": ((200, {"answer": "YES"}, {}), "garbage"),
    "deep JSON": ((200, b"[" * 100_000, {}), "garbage"),
    "a list": ((200, [], {}), "garbage"),
    "no gzip": ((200, b"YES", {"Content-Encoding": "gzip"}), "garbage"),
    "an error in a good answer": ((200, {"error": {"code": 502, "message": "upstream"}}, {}), "server"),
    "a dropped connection": ("drop", "connection"),
    "a cut answer": ((200, completion("YES"), {"Content-Length": "9999"}), "connection"),
    "a hang": ("hang", "timeout"),
    "no HTTP": ((200, b"", {"Content-Length": "x"}), "connection"),
}


@pytest.mark.parametrize("trouble", TROUBLES)
def test_trouble_that_passes_costs_no_verdict_and_invents_none(serve, trouble):
    answer, _ = TROUBLES[trouble]
    closing = (answer[0], answer[1], {**answer[2], "Connection": "close"}) if isinstance(answer, tuple) else answer
    server = serve(lambda sentence, n_before, _: closing if n_before < 2 else truth(sentence))
    waits = trouble in ("a hang", "a cut answer")
    one = judge(server, **({"timeout": 0.5} if waits else {}))
    assert words(one.ask(queries(8))) == right(8)
    if waits:  # a try that ends by the clock: a busy machine may need one more
        assert min(server.asked.values()) >= 3 and one.stats.tries >= 24
    else:
        assert set(server.asked.values()) == {3} and one.stats.tries == 24


@pytest.mark.parametrize("trouble", TROUBLES)
def test_trouble_that_stays_is_an_unscored_verdict_with_its_reason(serve, trouble, caplog):
    answer, reason = TROUBLES[trouble]
    if trouble == "a cut answer":
        reason = "timeout"  # the rest is awaited on a connection that stays open
    server = serve(lambda sentence, *_: answer if "3" in sentence else truth(sentence))
    one = judge(server, max_tries=2, **({"timeout": 2} if reason == "timeout" else {}))
    with caplog.at_level(logging.WARNING):
        verdicts = one.ask(queries(5))
    assert words(verdicts) == [*right(3), reason, "YES"]
    assert one.stats.failed == 1 and len(one.cache) == 4
    assert f"1 of 5 questions without a verdict: {reason} 1" in caplog.text
    server.answer = lambda sentence, *_: truth(sentence)
    n_before = len(server.requests)
    assert words(one.ask(queries(5))) == right(5) and len(server.requests) == n_before + 1


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 405, 422])
def test_a_server_that_refuses_stops_the_run_at_once_in_its_own_words(serve, status):
    server = serve(
        lambda *_: (status, {"error": {"message": "No model m here,\n my friend sk-secret"}}, {}), latency=0.02
    )
    one = judge(server, api_key="sk-secret", max_in_flight=4)
    with pytest.raises(JudgeError) as caught:
        one.ask(queries(50))
    assert str(caught.value) == f"judge m at {server.url}: refused with {status}: No model m here, my friend ***"
    assert len(server.requests) <= 8


def test_the_key_is_sent_and_not_shown(serve, caplog):
    server = serve(lambda *_: (500, b"key sk-Secret1 is bad", {}))
    one = judge(server, api_key="sk-Secret1", max_tries=1, headers={"X-Title": "t"})
    with caplog.at_level(logging.DEBUG):
        verdicts = one.ask(queries(2))
    assert server.headers[0][b"authorization"].endswith(b"sk-secret1") and server.headers[0][b"x-title"] == b"t"
    assert "sk-Secret1" not in f"{verdicts} {one} {one._server!r} {caplog.text}" and "key *** is bad" in verdicts[0].raw
    for bad in ("", "sk 1\n", "ключ", " sk"):
        with pytest.raises(InputError) as caught:
            from_endpoint(server.url, "m", api_key=bad)
        assert bad.strip() == "" or bad.strip() not in str(caught.value)


def test_what_was_answered_before_a_refusal_is_kept(serve, tmp_path):
    server = serve(lambda sentence, *_: (401, b"key expired", {}) if "7" in sentence else truth(sentence))
    with pytest.raises(JudgeError, match="refused with 401: key expired"):
        judge(server, max_in_flight=1, cache=tmp_path / "v.sqlite").ask(queries(20))
    server.answer = lambda sentence, *_: truth(sentence)
    one = judge(server, cache=tmp_path / "v.sqlite")
    assert words(one.ask(queries(20))) == right(20)
    assert one.stats.cached == 7 and one.stats.tries == 13


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


def test_after_enough_failures_in_a_row_the_judge_is_down_and_one_question_finds_out_whether_still(serve):
    server = serve(lambda *_: (500, b"down", {}))
    one = judge(server, max_tries=2, give_up_after=3, max_in_flight=2)
    verdicts = one.ask(queries(100))
    assert {verdict.value for verdict in verdicts} == {None}
    assert set(words(verdicts)) == {"server", "down"} and words(verdicts).count("down") > 90
    n_tries = len(server.requests)
    assert n_tries <= 8 and one.stats.failed == 100 and len(one.cache) == 0
    one.ask(queries(50))
    assert len(server.requests) <= n_tries + 2  # one question alone, twice
    server.answer = lambda sentence, *_: truth(sentence)
    assert words(one.ask(queries(100))) == right(100)


def test_a_judge_that_is_not_there_gives_no_verdict():
    one = from_endpoint("http://127.0.0.1:9/v1", "m", **QUICK, max_tries=2, give_up_after=2, max_in_flight=2)
    assert set(words(one.ask(queries(9)))) == {"connection", "down"}


def test_failures_that_are_not_in_a_row_do_not_stop_a_judge(serve):
    server = serve(lambda sentence, *_: (500, b"", {}) if int(sentence[9:-1]) % 3 == 0 else truth(sentence))
    verdicts = judge(server, max_tries=1, give_up_after=2, max_in_flight=1).ask(queries(30))
    assert words(verdicts) == [word if number % 3 else "server" for number, word in enumerate(right(30))]


def test_retry_after_is_obeyed_by_all_requests_in_flight(serve):
    times = []

    def answer(sentence, n_before, _):
        times.append(time.monotonic())
        while len(times) == 2 and not one._line._free_at and time.monotonic() - times[0] < 10:
            time.sleep(0.001)  # only then must the judge know of the refusal
        return (429, b"", {"Retry-After": "0.2"}) if len(times) == 1 else truth(sentence)

    server = serve(answer)
    one = judge(server, max_in_flight=1, max_wait=1)
    assert words(one.ask(queries(3))) == right(3)
    assert times[1] - times[0] >= 0.19
    times.clear()
    one = judge(server, max_in_flight=2, max_wait=1)
    assert words(one.ask(queries(12))) == right(12)
    assert sum(later - times[0] < 0.19 for later in times) <= 2


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
    assert words(one.ask(queries(3))) == right(3) and one.stats.prompt_tokens == 0


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

    assert words(asyncio.run(notebook())) == right(5)


def test_threads_may_share_a_judge(serve):
    server = serve(latency=0.005)
    one = judge(server)
    results = {}
    threads = [
        threading.Thread(target=lambda part=part: results.update({part: one.ask(queries(10 * part + 10, 10 * part))}))
        for part in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert words(itertools.chain(*(results[part] for part in range(4)))) == right(40)
    assert one.stats.answered == 40 and server.most_in_flight <= 16


def test_nothing_is_sent_for_questions_that_no_prompt_fits(serve):
    server = serve()
    with pytest.raises(OptionError, match="kind: got 'relevance'"):
        judge(server).ask([*queries(2), Query("relevance", {"sentence": "s"})])
    with pytest.raises(InputError, match="answer: None"):
        judge(server).ask([Query("nugget_agreement", {"sentence": "s", "question": "q"})])
    assert judge(server).ask([]) == [] and not server.requests


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"url": "localhost:8000"}, "url: got 'localhost:8000'"),
        ({"url": "ftp://host/v1"}, "expected an address"),
        ({"url": "http://"}, "expected an address"),
        ({"url": None}, "expected an address"),
        ({"url": "http://host:port/"}, "expected an address"),
        ({"model": ""}, "model: got ''"),
        ({"parameters": {"temperature": float("nan")}}, "parameters: .*JSON"),
        ({"parameters": {"stop": {"a"}}}, "parameters: .*JSON"),
        ({"parameters": "temperature=1"}, "parameters: got str"),
        ({"max_in_flight": 0}, "max_in_flight: got 0"),
        ({"timeout": 0}, "timeout: got 0"),
        ({"timeout": float("inf")}, "timeout: got inf"),
        ({"max_tries": 1.5}, "max_tries: got 1.5"),
        ({"give_up_after": True}, "give_up_after: got True"),
        ({"prices": {"m": 3}}, r"prices\['m'\]: got int 3, expected what a million tokens"),
        ({"prices": {"m": [1, "2"]}}, r"prices\['m'\]: got list"),
        ({"retries": 3}, "option: got 'retries', expected one of 'cache', 'first_wait'"),
    ],
)
def test_wrong_arguments_are_named(arguments, message):
    with pytest.raises(InputError, match=message):
        from_endpoint(**{"url": "http://localhost/v1", "model": "m", **arguments})


def test_parameters_are_sent_named_and_part_of_what_is_the_same_question(serve, tmp_path):
    server = serve()
    one = judge(server, cache=tmp_path / "c", parameters={"max_tokens": None, "max_completion_tokens": 9, "seed": 1})
    one.ask(queries(1))
    assert "max_tokens" not in server.requests[0] and server.requests[0]["max_completion_tokens"] == 9
    assert one.name.startswith("m@127.0.0.1,max_completion_tokens:9,max_tokens:None,seed:1,prompts:")
    judge(server, cache=tmp_path / "c").ask(queries(1))
    from_endpoint(server.url, "other", cache=tmp_path / "c").ask(queries(1))
    assert len(server.requests) == 3
    from_endpoint(f"{server.url}/chat/completions/", "m", cache=tmp_path / "c").ask(queries(2))
    assert len(server.requests) == 4


def test_no_bar_where_there_is_no_terminal_and_one_where_it_is_asked_for(serve, capfd):
    server = serve()
    judge(server).ask(queries(3))
    assert capfd.readouterr().err == ""
    judge(server, progress=True).ask(queries(3))
    assert "3/3" in capfd.readouterr().err


def test_the_internal_trouble_never_leaves():
    from tls_tasks.reports.judges.sending import Trouble

    assert issubclass(Trouble, TlsTasksError) and not issubclass(Trouble, JudgeError)
