"""The names of the package, which are imported when they are used."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import arcadia
import pytest
from arcadia._sync.artifacts import Checkpoint
from arcadia._sync.jobs import Replay, Resource
from arcadia._sync.runs import Run
from arcadia._sync.transport import LinkedRecord, Refreshable


def test_every_name_is_found_where_type_checkers_look_for_it() -> None:
    (block,) = (
        node
        for node in ast.parse(Path(arcadia.__file__).read_text()).body
        if isinstance(node, ast.If) and not node.orelse
    )
    declared = {
        alias.name: node.module for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    assert declared | {"connect": None} == {name: declared.get(name) for name in arcadia.__all__}
    assert declared == arcadia._MODULES
    assert all(getattr(arcadia, name) is not None for name in arcadia.__all__)
    assert set(arcadia.__all__) < set(dir(arcadia))


def test_a_name_that_does_not_exist_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'lanch'"):
        arcadia.lanch  # type: ignore[attr-defined]  # noqa: B018


def test_plugins_without_a_server_name_the_missing_package() -> None:
    without_server = "import sys; sys.modules.update(arcadia_workers=None); import arcadia.plugins"
    done = subprocess.run([sys.executable, "-c", without_server], capture_output=True, text=True, check=False)
    assert "arcadia.plugins needs Arcadia's server package" in done.stderr


def subclasses(base: type[LinkedRecord]) -> Iterator[type[LinkedRecord]]:
    """Yield every class that inherits from a class."""
    for each in base.__subclasses__():
        yield each
        yield from subclasses(each)


def test_every_record_with_a_connection_has_a_path() -> None:
    records = {each for each in subclasses(LinkedRecord) if each not in (Refreshable, Resource)}
    assert {Checkpoint, Replay, Run} <= records
    assert {each.__name__ for each in records if each._path is LinkedRecord._path} == set()
