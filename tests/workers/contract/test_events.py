"""Tests for the files that events name."""

from typing import Any

import pytest

from arcadia_workers.contract.events import files_named


@pytest.mark.parametrize(
    ("event", "files"),
    [
        ({"kind": "metrics", "values": {}}, []),
        ({"kind": "a kind of a later version", "file": "x"}, []),
        ({"kind": "checkpoint", "checkpoint": {"file": "c"}}, [("checkpoint", "c")]),
        ({"kind": "video", "file": "v", "poster": "p", "seen": None}, [("video", "v"), ("poster", "p")]),
        (
            {"kind": "video", "file": "v", "poster": "p", "seen": "s", "track": "t"},
            [("video", "v"), ("poster", "p"), ("video", "s"), ("track", "t")],
        ),
        ({"kind": "film", "file": "v", "poster": "p"}, [("poster", "p"), ("video", "v")]),
        ({"kind": "saliency", "file": "s"}, [("saliency", "s")]),
        ({"kind": "futures", "document": {}}, []),
        ({"kind": "futures", "document": {"videos": [{"file": "a"}, {"file": "b"}]}}, [("video", "a"), ("video", "b")]),
    ],
)
def test_the_files_of_an_event_are_named_in_the_order_of_their_upload(
    event: dict[str, Any], files: list[tuple[str, str]]
) -> None:
    assert files_named(event) == files
