"""The page of the API reference."""

import re
from html.parser import HTMLParser

from fastapi import FastAPI
from fastapi.testclient import TestClient

from arcadia_backend.app import describe_api
from arcadia_backend.web.api_reference.page import limits_of, type_of

OWN_ADDRESSES = ("/", "/logo.svg", "/client/", "/api/v1/openapi.json", "/api/docs/copy.js")


class Read(HTMLParser):
    """A parser that collects the tags, ids and addresses of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.ids: list[str] = []
        self.addresses: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            if name in ("href", "src"):
                self.addresses.add(value or "")


def test_the_page_has_every_route_and_every_type(client: TestClient, app: FastAPI) -> None:
    answer = client.get("/api/docs")
    assert answer.headers["content-type"].startswith("text/html")
    read, document = Read(answer.text), describe_api(app)
    calls = [call for item in document["paths"].values() for call in item.values()]
    assert {call["operationId"] for call in calls} <= set(read.ids)
    assert {f"type-{name}" for name in document["components"]["schemas"]} <= set(read.ids)
    assert len(read.ids) == len(set(read.ids))
    for path in document["paths"]:
        assert path in answer.text


def test_the_page_has_no_external_links_and_one_script_of_this_server(client: TestClient) -> None:
    answer = client.get("/api/docs")
    read = Read(answer.text)
    assert not read.tags & {"img", "iframe"}
    assert re.findall("<script[^>]*>[^<]*", answer.text) == ['<script defer src="/api/docs/copy.js">']
    for address in read.addresses:
        assert address in OWN_ADDRESSES or address.removeprefix("#") in read.ids, address
    assert not re.search(r"url\(|@import", answer.text)
    assert "script-src 'self';" in answer.headers["content-security-policy"]


def test_types_are_described_in_words() -> None:
    text = {"anyOf": [{"type": "string", "maxLength": 2_000}, {"type": "null"}], "default": "<b>"}
    assert type_of(text) == "string or null"
    assert limits_of(text) == "at most 2,000 characters, default <code>&lt;b&gt;</code>"
    listed = {"type": "array", "items": {"$ref": "#/components/schemas/Run"}, "maxItems": 20}
    assert type_of(listed) == 'list of <a href="#type-Run">Run</a>'
    assert limits_of(listed) == "at most 20 items"
    assert type_of({"enum": ["a", True]}) == "<code>a</code> or <code>true</code>"
    assert type_of({"type": "object", "additionalProperties": {"type": "integer"}}) == "object of integer by name"
    assert type_of({"type": "string", "format": "date-time"}) == "date and time"
    assert type_of({}) == "anything"
