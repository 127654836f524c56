"""References to runs."""

from __future__ import annotations

import pytest
from arcadia import AmbiguousReferenceError, Client, NotFoundError
from arcadia.names import Last, Name, Numbers, parse_reference
from fake_server import URL, FakeServer, page, run


@pytest.mark.parametrize(
    ("reference", "meaning"),
    [
        (12, Numbers((12,), is_range=False)),
        ("12", Numbers((12,), is_range=False)),
        (" 7-9 ", Numbers((7, 8, 9), is_range=True)),
        ("7-9, 12,8", Numbers((7, 8, 9, 12), is_range=True)),
        ("@last", Last()),
        ("pong 12", Name("pong 12")),
        ("7-9-11", Name("7-9-11")),
    ],
)
def test_references_are_numbers_ranges_names_or_the_last_run(reference: int | str, meaning: object) -> None:
    assert parse_reference(reference) == meaning


@pytest.mark.parametrize("reference", ["", "  ", "@newest", "9-7", "1-5000", True])
def test_malformed_references_are_rejected(reference: str) -> None:
    with pytest.raises(AmbiguousReferenceError):
        parse_reference(reference)


def connect(**answers: object) -> tuple[Client, FakeServer]:
    server = FakeServer({path.replace("_", "/"): answer for path, answer in answers.items()})
    return Client(URL, transport=server.transport), server


def test_a_unique_name_finds_its_run() -> None:
    client, server = connect(_runs=page(run(id=4, name="mine")), _runs_4=run(id=4, name="mine"))
    assert client.run("mine").id == 4
    assert server.requests[0].url.params["name"] == "mine"


def test_an_ambiguous_name_lists_the_numbers() -> None:
    client, _ = connect(_runs=page(run(id=4, name="mine"), run(id=9, name="mine")))
    with pytest.raises(AmbiguousReferenceError, match="4, 9"):
        client.run("mine")


def test_an_unknown_name_is_an_error() -> None:
    client, _ = connect(_runs=page(run(id=4, name="mine too")))
    with pytest.raises(NotFoundError, match="no run named 'mine'"):
        client.run("mine")


def test_the_last_run_is_the_newest() -> None:
    client, server = connect(_runs=page(run(id=9)), _runs_9=run(id=9))
    assert client.run("@last").id == 9
    assert server.requests[0].url.params["sort"] == "-created_at"


def test_a_range_keeps_its_order_and_includes_archived_runs() -> None:
    client, server = connect(_runs=[page(run(id=9), run(id=7)), page(run(id=8))])
    assert [each.id for each in client.runs("7-10")] == [7, 8, 9]
    assert server.requests[1].url.params.get_list("id") == ["8", "10"]
    assert server.requests[1].url.params["archived"] == "true"


def test_an_empty_range_is_an_error() -> None:
    client, _ = connect(_runs=page())
    with pytest.raises(NotFoundError, match="no run in 7-10"):
        client.runs("7-10")


def test_one_run_cannot_be_a_range() -> None:
    client, _ = connect()
    with pytest.raises(AmbiguousReferenceError, match="names 3 runs"):
        client.run("7-9")
