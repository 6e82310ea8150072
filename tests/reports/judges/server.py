"""A judge on loopback: an OpenAI-compatible endpoint that can misbehave."""

import asyncio
import json
import re
import threading

SENTENCE = re.compile(r"<sentence>\n(.*?)\n</sentence>", re.DOTALL)


def truth(sentence):
    """What an honest judge says: yes to sentences of an even number."""
    return "YES" if int(re.search(r"\d+", sentence)[0]) % 2 == 0 else "NO"


class Server:
    """Answers by a function: (sentence, how often it was asked before, messages) -> answer.

    An answer is a str (the model's words), (status, dict or bytes, headers), or one of ``hang``, ``drop``, ``cut``,
    ``drip`` (a byte every 50 ms) and ``drip headers``.
    """

    def __init__(self, answer=lambda sentence, n_before, messages: truth(sentence), latency=0.0):
        self.answer, self.latency = answer, latency
        self.asked, self.requests, self.headers = {}, [], []
        self.in_flight = self.most_in_flight = 0
        started = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run(started)), daemon=True)
        self._thread.start()
        started.wait()
        self.url = f"http://127.0.0.1:{self.port}/v1"

    def close(self):
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join()

    async def _run(self, started):
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=512)
        self.port = server.sockets[0].getsockname()[1]
        started.set()
        await self._end.wait()
        server.close()  # asyncio.run cancels what is being served

    async def _serve(self, reader, writer):
        try:
            while re.match(rb"POST /v1/(chat/)?completions ", head := await reader.readuntil(b"\r\n\r\n")):
                headers = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:] if line)
                body = json.loads(await reader.readexactly(int(headers[b"content-length"])))
                if not await self._reply(body, headers, writer):
                    break
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _reply(self, body, headers, writer):
        self.requests.append(body)
        self.headers.append(headers)
        messages = body.get("messages") or [{"role": "user", "content": body["prompt"]}]
        content = messages[0]["content"]
        found = SENTENCE.search(content if isinstance(content, str) else content[0]["text"])
        sentence = found[1] if found else ""
        n_before = self.asked.get(sentence, 0)
        self.asked[sentence] = n_before + 1
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            if self.latency:
                await asyncio.sleep(self.latency)
        finally:
            self.in_flight -= 1
        answer = self.answer(sentence, n_before, messages)
        if answer == "hang":
            await asyncio.sleep(30)
        if answer in ("hang", "drop"):
            return False
        if answer in ("drip", "drip headers"):
            await self._drip(writer, headers_too=answer == "drip headers")
            return False
        status, content, extra = (200, completion(answer), {}) if isinstance(answer, str) else answer
        content = content if isinstance(content, bytes) else json.dumps(content).encode()
        lines = {"Content-Type": "application/json", "Content-Length": str(len(content)), **extra}
        text = f"HTTP/1.1 {status} X\r\n" + "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        writer.write(text.encode() + b"\r\n" + (content[: len(content) // 2] if answer == "cut" else content))
        await writer.drain()
        return answer != "cut" and "Connection" not in extra

    async def _drip(self, writer, headers_too):
        head = b"HTTP/1.1 200 X\r\nContent-Length: 600\r\n\r\n"
        if not headers_too:
            writer.write(head)
        for byte in (head if headers_too else b"") + b" " * 600:
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(0.05)


def completion(text):
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "text": text, "finish_reason": "stop"}  # of a chat, of a completion
    usage = {"prompt_tokens": 100, "completion_tokens": 2, "total_tokens": 102}
    return {"model": "loopback", "choices": [choice], "usage": usage}
