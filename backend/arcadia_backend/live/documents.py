"""Documents: the JSON responses to GET requests. Pages hold versions of them, and get only the differences.

A version is named by its etag, a hash of the body. Recent bodies are kept, so that the difference to a version that a
page holds can be computed.
"""

import json
from collections import OrderedDict
from difflib import Match, SequenceMatcher
from hashlib import blake2b
from itertools import pairwise
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from arcadia_backend.config import API
from arcadia_backend.live.notices import Hub

MAX_DOCUMENT_BYTES = 4_000_000
MAX_RECENT_BYTES = 32_000_000
NOTICE_HEADER = "Arcadia-Notice"

# ["set", keys, value], ["delete", keys] or ["splice", keys, start, count, items]. Keys are strings or indexes.
Operation = list[Any]
Keys = list[str | int]
# Fields that identify the objects of a list.
IDENTIFIERS = ("id", "uid", "run_id")
SCALARS = frozenset({str, int, float, bool, type(None)})


class RecentDocuments:
    """The bodies of recent documents by etag. The least recently used ones are dropped first."""

    def __init__(self, max_bytes: int = MAX_RECENT_BYTES) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._bodies: OrderedDict[str, bytes] = OrderedDict()

    def add(self, body: bytes) -> str:
        """Keep a body, unless it is too large. Return its etag."""
        etag = blake2b(body, digest_size=8).hexdigest()
        if len(body) <= MAX_DOCUMENT_BYTES:
            if etag not in self._bodies:
                self._bytes += len(body)
            self._bodies[etag] = body
            self._bodies.move_to_end(etag)
        while self._bytes > self._max_bytes:
            _, dropped = self._bodies.popitem(last=False)
            self._bytes -= len(dropped)
        return etag

    def get(self, etag: str | None) -> bytes | None:
        """Return a body that is still kept."""
        if etag is None or etag not in self._bodies:
            return None
        self._bodies.move_to_end(etag)
        return self._bodies[etag]

    def expire(self, etag: str | None) -> None:
        """Let a body that was replaced by a newer version be dropped before all others."""
        if etag is not None and etag in self._bodies:
            self._bodies.move_to_end(etag, last=False)


class DocumentVersions:
    """Middleware that names the version of each document, and the newest notice before it was read."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and add the headers to its response."""
        if scope["type"] != "http" or scope["method"] != "GET" or not scope["path"].startswith(f"{API}/"):
            await self._app(scope, receive, send)
            return
        hub: Hub = scope["app"].state.hub
        notice = hub.newest
        start: Message | None = None

        async def send_with_version(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start" and _is_document(message):
                start = message
                return
            if start is not None:
                # A response in parts is not a document.
                if not message.get("more_body", False):
                    recent: RecentDocuments = scope["app"].state.recent_documents
                    headers = MutableHeaders(scope=start)
                    headers["ETag"] = f'"{recent.add(message.get("body", b""))}"'
                    headers[NOTICE_HEADER] = notice
                await send(start)
                start = None
            await send(message)

        await self._app(scope, receive, send_with_version)


def _is_document(start: Message) -> bool:
    """Return True if a response is JSON, and not a file."""
    headers = MutableHeaders(scope=start)
    is_json = headers.get("content-type", "").startswith("application/json")
    return start["status"] == 200 and is_json and "etag" not in headers and "content-disposition" not in headers


def change_as_json(path: str, versions: tuple[str | None, str], bodies: tuple[bytes | None, bytes], notice: str) -> str:
    """Return the data of `document.changed`: a patch, or the document if the page's version is unknown or differs much.

    The versions and bodies are the page's and the new one.
    """
    (old, new), (old_body, new_body) = versions, bodies
    event = {"path": path, "etag": new, "notice": notice}
    if old_body is not None:
        patch = _dump(_patch(old_body, new_body))
        if len(patch) < len(new_body):
            return f'{_dump({**event, "from": old})[:-1]},"patch":{patch}}}'
    return f'{_dump(event)[:-1]},"document":{new_body.decode()}}}'


def _patch(old: bytes, new: bytes) -> list[Operation]:
    before, after = json.loads(old), json.loads(new)
    try:
        return diff(before, after)
    except RecursionError:
        # Parsing allows deeper documents than comparing.
        return [["set", [], after]]


def _dump(content: Any) -> str:
    return json.dumps(content, separators=(",", ":"))


def diff(old: Any, new: Any) -> list[Operation]:
    """Return the operations that turn one JSON value into another, to apply in order."""
    operations: list[Operation] = []
    _compare(old, new, [], operations)
    return operations


def _compare(old: Any, new: Any, keys: Keys, operations: list[Operation]) -> None:
    if isinstance(old, dict) and isinstance(new, dict):
        operations += [["delete", [*keys, key]] for key in old if key not in new]
        for key, value in new.items():
            if key not in old:
                operations.append(["set", [*keys, key], value])
            elif not _is_same(old[key], value):
                _compare(old[key], value, [*keys, key], operations)
    elif isinstance(old, list) and isinstance(new, list):
        _compare_lists(old, new, keys, operations)
    elif not _is_same(old, new):
        operations.append(["set", keys, new])


def _compare_lists(old: list[Any], new: list[Any], keys: Keys, operations: list[Operation]) -> None:
    rows = _matching_rows(old, new)
    blocks = [Match(0, 0, 0), *(rows or _matching_ends(old, new))]
    # From the end, so that the earlier indexes stay valid.
    for block, following in reversed([*pairwise(blocks)]):
        start = block.a + block.size
        removed, added = following.a - start, new[block.b + block.size : following.b]
        if removed or added:
            operations.append(["splice", keys, start, removed, added])
    for block in rows:
        for index in range(block.b, block.b + block.size):
            before = old[index - block.b + block.a]
            if not _is_same(before, new[index]):
                _compare(before, new[index], [*keys, index], operations)


def _matching_rows(old: list[Any], new: list[Any]) -> list[Match]:
    """Return the blocks of rows to compare one by one, or an empty list if the lists have no such rows.

    These are objects with an identifier, or as many objects or lists as before.
    """
    for name in IDENTIFIERS:
        old_ids, new_ids = _ids(old, name), _ids(new, name)
        if old_ids and new_ids and old_ids != new_ids:
            return SequenceMatcher(None, old_ids, new_ids, autojunk=False).get_matching_blocks()
    if len(old) == len(new) and all(isinstance(row, dict | list) for row in (*old, *new)):
        return [Match(0, 0, len(old)), Match(len(old), len(new), 0)]
    return []


def _ids(rows: list[Any], name: str) -> list[str | int]:
    """Return the unique identifiers of rows, or an empty list if some have none."""
    if not rows or not isinstance(rows[0], dict):
        return []
    ids = [row[name] for row in rows if isinstance(row, dict) and isinstance(row.get(name), str | int)]
    return ids if len({*ids}) == len(rows) else []


def _matching_ends(old: list[Any], new: list[Any]) -> list[Match]:
    """Return the common beginning and the common end."""
    start = _common_length(old, new)
    end = _common_length(old[start:][::-1], new[start:][::-1])
    return [Match(0, 0, start), Match(len(old) - end, len(new) - end, end), Match(len(old), len(new), 0)]


def _common_length(old: list[Any], new: list[Any]) -> int:
    """Return the length of the common beginning. Comparing slices is much faster than comparing items in a loop."""
    low, high = 0, min(len(old), len(new))
    middle = high
    while low < high:
        if _is_same(old[low:middle], new[low:middle]):
            low = middle
        else:
            high = middle - 1
        middle = (low + high + 1) // 2
    return low


def _is_same(old: Any, new: Any) -> bool:
    """Return True if two JSON values are equal. For Python, 1 equals true."""
    if type(old) is not type(new) or old != new:
        return False
    if isinstance(old, dict):
        return all(_is_same(value, new[key]) for key, value in old.items())
    if isinstance(old, list):
        kinds = [*map(type, old)]
        return kinds == [*map(type, new)] and (SCALARS.issuperset(kinds) or all(map(_is_same, old, new)))
    return True
