"""Compressed and uncompressed responses."""

import asyncio
import zlib
from typing import Any

from starlette.types import Message, Receive, Scope, Send

from arcadia_backend.web.middleware import Compression
from tests.factories import Api, metrics


def sent_through(content_type: str, chunks: list[bytes]) -> list[Message]:
    """Return the messages that the server sends when an application responds with these chunks."""
    left: list[Message] = []

    async def app(_scope: Scope, _receive: Receive, send: Send) -> None:
        headers = [(b"content-type", content_type.encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        for chunk in chunks:
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
            # Each chunk must be sent before the next one arrives.
            assert any(message.get("body") for message in left)
            left.append({"type": "asked for more"})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def send(message: Message) -> None:
        left.append(message)

    async def receive() -> Message:
        return {"type": "http.request"}

    scope: dict[str, Any] = {"type": "http", "headers": [(b"accept-encoding", b"gzip")]}
    asyncio.run(Compression(app)(scope, receive, send))
    return left


def test_a_figure_is_compressed(api: Api) -> None:
    run_id, attempt = api.running()
    api.send(run_id, attempt, *(metrics(seq, seq * 10, {"a": seq / 7}) for seq in range(2, 402)))
    address = f"/api/v1/figures/curves?runs={run_id}&metric=a"
    packed = api.user.get(address, headers={"Accept-Encoding": "gzip"})
    plain = api.user.get(address, headers={"Accept-Encoding": "identity"})
    assert packed.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert packed.json() == plain.json()
    assert int(packed.headers["content-length"]) < len(plain.content) / 2


def test_files_are_sent_uncompressed() -> None:
    for kind in ("application/octet-stream", "video/mp4"):
        left = sent_through(kind, [b"one" * 1_000, b"two" * 1_000])
        assert (b"content-encoding", b"gzip") not in left[0]["headers"], kind
        assert [message["body"][:3] for message in left if message.get("body")] == [b"one", b"two"], kind
    packed = sent_through("text/csv", [b"one" * 1_000])
    assert (b"content-encoding", b"gzip") in packed[0]["headers"]


def test_each_event_can_be_read_before_the_next_is_sent() -> None:
    start, *parts = sent_through("text/event-stream; charset=utf-8", [b"one" * 1_000, b"two" * 1_000])
    assert (b"content-encoding", b"gzip") in start["headers"]
    unpacker = zlib.decompressobj(16 + zlib.MAX_WBITS)
    read = [unpacker.decompress(message["body"]) for message in parts if message.get("body")]
    assert read[:2] == [b"one" * 1_000, b"two" * 1_000]
