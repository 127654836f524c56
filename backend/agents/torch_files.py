"""Weights in files of torch, read without torch and without running any code of the file.

Such a file is a zip file with a pickle of names, shapes and places, and the numbers beside it. A process with limits
parses the pickle.
"""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import cache
from math import prod
from typing import BinaryIO

import numpy as np

from backend.agents.problem import BadAgent
from backend.files.zip_guards import ZipGuards
from backend.untrusted.reading import UnreadableError, parse
from workers.contract.agents.weights import Weights, of_array

_MEMBER = (
    r"[A-Za-z0-9_.-]{1,100}/(data\.pkl|version|byteorder|\.format_version|\.storage_alignment"
    r"|\.data/serialization_id|data/\d{1,6})"
)
GUARDS = ZipGuards("agent file with weights of torch", _MEMBER, BadAgent)
# The pickle of a large network has a few kilobytes.
MAX_PICKLE_BYTES = 1_000_000
_DTYPES = {"FloatStorage": "<f4", "DoubleStorage": "<f8", "HalfStorage": "<f2"}
# Tensors of a policy share numbers: up to three names have those of one feature extractor.
MAX_SHARING = 4


def read_tensors(file: BinaryIO) -> dict[str, Weights]:
    """Return the tensors of a file that `torch.save` wrote of a dictionary. Raise BadAgent for anything else."""
    with ExitStack() as stack, GUARDS.checking():
        opened, members = GUARDS.open(stack, file)
        folders = {name.split("/")[0] for name in members}
        folder = min(folders, default="")
        needed = (f"{folder}/data.pkl", f"{folder}/byteorder")
        if len(folders) != 1 or not members.keys() >= {*needed}:
            raise BadAgent("The weights are incomplete: they need one folder with data.pkl and byteorder.")
        if members[needed[0]].file_size > MAX_PICKLE_BYTES:
            raise BadAgent(f"The description of the weights is larger than {MAX_PICKLE_BYTES:,} bytes.")
        if opened.read(needed[1]).strip() != b"little":
            raise BadAgent(
                "The weights are not in little-endian byte order. Save them again on a little-endian machine."
            )

        @cache
        def read_storage(key: str) -> bytes:
            if f"{folder}/data/{key}" not in members:
                raise BadAgent(f"The weights are incomplete: the numbers {key} are missing.")
            return opened.read(f"{folder}/data/{key}")

        try:
            described = parse("torch_pickles", opened.read(needed[0]))
        except UnreadableError as error:
            raise BadAgent(f"The weights cannot be read: {error}.") from None
        return _to_weights(described, read_storage, MAX_SHARING * sum(info.file_size for info in members.values()))


def _to_weights(
    described: list[tuple[str, str, str, int, list[int], list[int]]],
    read_storage: Callable[[str], bytes],
    max_bytes: int,
) -> dict[str, Weights]:
    """Return the described tensors with their numbers."""
    found: dict[str, Weights] = {}
    for name, kind, key, offset, size, stride in described:
        numbers = np.frombuffer(read_storage(key), dtype=_DTYPES[kind])
        _require_whole(len(numbers), offset, size, stride)
        max_bytes -= 4 * prod(size)
        if max_bytes < 0:
            raise BadAgent("The weights name the same numbers too often.")
        found[name] = of_array(numbers[offset : offset + prod(size)].reshape(size))
    return found


def _require_whole(count: int, offset: int, size: Sequence[int], stride: Sequence[int]) -> None:
    """Raise BadAgent unless a tensor is a whole and contiguous part of a storage of `count` numbers."""
    contiguous = [prod(size[place + 1 :]) for place, _ in enumerate(size)]
    matters = [place for place, length in enumerate(size) if length != 1]
    fits = len(size) == len(stride) and min(size, default=0) >= 0 and 0 <= offset <= count - prod(size)
    if not fits or any(stride[place] != contiguous[place] for place in matters):
        raise BadAgent("The weights have a tensor that is not stored as a whole.")
