"""Malicious files of weights. Their code never runs, and they cannot exhaust memory."""

import io
import os
import pickle
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest
import torch

from arcadia_backend.agents.stable_baselines import BadAgent, read_tensors
from arcadia_backend.untrusted import reading


def saved(content: Any) -> bytes:
    """Return the bytes that torch saves."""
    file = io.BytesIO()
    torch.save(content, file)
    return file.getvalue()


def with_pickle(pickled: bytes, **storages: bytes) -> io.BytesIO:
    """Return a torch file with another pickle."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("archive/data.pkl", pickled)
        archive.writestr("archive/byteorder", b"little")
        for key, content in storages.items():
            archive.writestr(f"archive/data/{key.removeprefix('s')}", content)
    return file


class Command:
    """An object whose unpickling runs a command."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, (f"touch {self._file}",)


def refusal(file: io.BytesIO) -> str:
    """Return why a file is refused."""
    with pytest.raises(BadAgent) as caught:
        read_tensors(file)
    return caught.value.detail


def test_code_does_not_run(tmp_path: Path) -> None:
    file = tmp_path / "ran"
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        message = refusal(with_pickle(pickle.dumps({"a": Command(file)}, protocol=protocol)))
        assert "not allowed in a file of weights" in message
    assert not file.exists()


@pytest.mark.parametrize(
    "name", ["builtins eval", "builtins getattr", "torch load", "torch.hub load", "collections Counter"]
)
def test_other_names_are_refused(name: str) -> None:
    module, function = name.split()
    assert "not allowed" in refusal(with_pickle(f"c{module}\n{function}\n.".encode()))


@pytest.mark.parametrize("content", [[1], {"a": 1}, {"a": [torch.ones(1)]}, torch.ones(2), {1: torch.ones(1)}])
def test_other_objects_are_refused(content: Any) -> None:
    assert "not a dictionary of tensors" in refusal(io.BytesIO(saved(content)))


def test_tensors_of_other_numbers_are_refused() -> None:
    assert "not allowed" in refusal(io.BytesIO(saved({"a": torch.ones(2, dtype=torch.int64)})))
    assert "not stored as a whole" in refusal(io.BytesIO(saved({"a": torch.ones(3, 2).t()})))


def rebuild(count: int, size: tuple[int, ...], stride: tuple[int, ...], offset: int = 0) -> bytes:
    """Return the pickle of `count` tensors that share one storage."""
    one = (
        b"ctorch._utils\n_rebuild_tensor_v2\n((Vstorage\nctorch\nFloatStorage\nV0\nVcpu\nI4\ntQI%d\n(%st(%stI00\n"
        b"ccollections\nOrderedDict\n)RtR"
        % (offset, b"".join(b"L%dL\n" % each for each in size), b"".join(b"L%dL\n" % each for each in stride))
    )
    return b"(" + b"".join(b"V%d\n%s" % (number, one) for number in range(count)) + b"d."


def test_tensors_beyond_their_storage_are_refused() -> None:
    storage = {"s0": bytes(16)}
    assert read_tensors(with_pickle(rebuild(1, (4,), (1,)), **storage))["0"].shape == (4,)
    for size, stride, offset in (((5,), (1,), 0), ((4,), (1,), 1), ((-1,), (1,), 0), ((2**40, 2**40), (2**40, 1), 0)):
        assert "not stored as a whole" in refusal(with_pickle(rebuild(1, size, stride, offset), **storage))
    assert "not stored as a whole" in refusal(with_pickle(rebuild(1, (2**62,), (0,)), **storage))


def test_many_references_to_the_same_numbers_are_refused() -> None:
    content = bytes(400_000)
    assert "too often" in refusal(with_pickle(rebuild(6, (100_000,), (1,)), s0=content))


@pytest.mark.parametrize(
    "pickled",
    [b"", b".", b"N.", b"garbage", b"(" * 100_000, b"r\xff\xff\xff\xff.", b"Q.", b"\x80\x05\x8d" + b"\xff" * 8, b"0."],
)
def test_damaged_pickles_are_refused(pickled: bytes) -> None:
    assert refusal(with_pickle(pickled))


def test_attributes_cannot_replace_the_numbers_of_a_tensor() -> None:
    pickled = rebuild(1, (4,), (1,))[:-2] + b"(Vdata\nVx\ndbd."
    assert "cannot be read" in refusal(with_pickle(pickled, s0=bytes(16)))


def nested(depth: int) -> bytes:
    """Return the pickle of a dictionary whose only key is a tuple in a tuple in a tuple, and so on."""
    return b"\x80\x02}(K\x01" + b"\x85" * depth + b"K\x01u."


@pytest.mark.parametrize("depth", [2_000, 200_000, 900_000])
def test_a_key_of_nested_tuples_is_refused(depth: int) -> None:
    message = refusal(with_pickle(nested(depth)))
    assert re.search("not a dictionary of tensors|its parser crashed|takes more than 5 seconds", message), message


def test_a_pickle_that_computes_for_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_SECONDS", 0.01)
    assert "takes longer than 0.01 seconds" in refusal(with_pickle(nested(900_000)))


def test_a_pickle_that_needs_much_memory_is_refused() -> None:
    # A bytearray of 2 GB, of which the file has nothing.
    assert "MB of memory" in refusal(with_pickle(b"\x80\x05\x96" + (2 * 10**9).to_bytes(8, "little")))


def test_weights_without_their_parts_are_refused() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("archive/data.pkl", rebuild(1, (4,), (1,)))
    assert "are incomplete" in refusal(file)
    assert "the numbers 0 are missing" in refusal(with_pickle(rebuild(1, (4,), (1,))))


def test_large_pickles_and_other_members_are_refused() -> None:
    assert "larger than" in refusal(with_pickle(bytes(1_000_001)))
    file = with_pickle(b"N.")
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr("../../evil", b"")
    assert "not a name that a member" in refusal(file)
