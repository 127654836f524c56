"""Weights in files of torch, read without torch and without running any code of the file.

Such a file is a zip file with a pickle of names, shapes and places, and the numbers beside it. The pickle may only call
the three functions that rebuild tensors, which are replaced with ones that make arrays.
"""

import io
import pickle
import zipfile
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import Any, BinaryIO

import numpy as np

from backend.agents.problem import BadAgent
from backend.files.zip_guards import ZipGuards
from workers.contract.agents.weights import Weights, is_whole, of_array

_MEMBER = (
    r"[A-Za-z0-9_.-]{1,100}/(data\.pkl|version|byteorder|\.format_version|\.storage_alignment"
    r"|\.data/serialization_id|data/\d{1,6})"
)
GUARDS = ZipGuards("agent file with weights of torch", _MEMBER, BadAgent)
# The pickle of a large network has a few kilobytes.
MAX_PICKLE_BYTES = 1_000_000
_STORAGES = {"FloatStorage": "<f4", "DoubleStorage": "<f8", "HalfStorage": "<f2"}
# Tensors of a policy share numbers: up to three names have those of one feature extractor.
MAX_SHARING = 4


@dataclass(frozen=True)
class _Storage:
    """The numbers of one tensor or several."""

    dtype: str
    content: bytes


class _Unpickler(pickle._Unpickler):
    """Unpickler that knows only dictionaries of tensors. The one in C allocates as much memory as the file requests."""

    def __init__(self, content: bytes, read_storage: Callable[[str], bytes], max_bytes: int) -> None:
        super().__init__(io.BytesIO(content))
        self._read_storage = cache(read_storage)
        self._left = max_bytes

    def find_class(self, module: str, name: str) -> Any:
        """Return a replacement for the few allowed names. Raise BadAgent for all others."""
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return self._rebuild
        if module == "torch" and name in _STORAGES:
            return name
        raise BadAgent(f"The weights refer to {module[:80]}.{name[:80]}, which is not allowed in a file of weights.")

    def persistent_load(self, pid: Any) -> _Storage:
        """Return the numbers that a tensor refers to."""
        kind, storage, key, _device, _count = pid
        if kind != "storage" or storage not in _STORAGES or not str(key).isdecimal():
            raise BadAgent("The weights have a part that is not a storage of numbers.")
        return _Storage(_STORAGES[storage], self._read_storage(str(key)))

    def _rebuild(self, storage: _Storage, offset: int, size: Sequence[int], stride: Sequence[int], *_: Any) -> Weights:
        """Return a tensor of a storage. Raise BadAgent unless it is a whole and contiguous part of it."""
        numbers, shape = np.frombuffer(storage.content, dtype=storage.dtype), tuple(map(int, size))
        contiguous = tuple(prod(shape[place + 1 :]) for place, _ in enumerate(shape))
        matters = [place for place, length in enumerate(shape) if length != 1]
        fits = min(shape, default=0) >= 0 and 0 <= offset <= len(numbers) - prod(shape)
        if not fits or any(int(stride[place]) != contiguous[place] for place in matters):
            raise BadAgent("The weights have a tensor that is not stored as a whole.")
        self._left -= 4 * prod(shape)
        if self._left < 0:
            raise BadAgent("The weights name the same numbers too often.")
        return of_array(numbers[offset : offset + prod(shape)].reshape(shape))


def read_tensors(file: BinaryIO) -> dict[str, Weights]:
    """Return the tensors of a file that `torch.save` wrote of a dictionary. Raise BadAgent for anything else."""
    with ExitStack() as stack, GUARDS.checking():
        opened, members = GUARDS.open(stack, file)
        (folder,) = {name.split("/")[0] for name in members}
        if members[f"{folder}/data.pkl"].file_size > MAX_PICKLE_BYTES:
            raise BadAgent(f"The description of the weights is larger than {MAX_PICKLE_BYTES:,} bytes.")
        if opened.read(f"{folder}/byteorder").strip() != b"little":
            raise BadAgent(
                "The weights are not in little-endian byte order. Save them again on a little-endian machine."
            )
        found = _unpickle(opened, folder, MAX_SHARING * sum(info.file_size for info in members.values()))
    if not isinstance(found, dict) or not all(
        isinstance(name, str) and isinstance(tensor, Weights) for name, tensor in found.items()
    ):
        raise BadAgent("The file of weights is not a dictionary of tensors.")
    if not all(is_whole(tensor) for tensor in found.values()):
        raise BadAgent("The weights have a tensor whose numbers do not have its shape.")
    return dict(found)


def _unpickle(opened: zipfile.ZipFile, folder: str, max_bytes: int) -> Any:
    pickled = opened.read(f"{folder}/data.pkl")
    try:
        return _Unpickler(pickled, lambda key: opened.read(f"{folder}/data/{key}"), max_bytes).load()
    except (pickle.UnpicklingError, LookupError, TypeError, AttributeError, OverflowError, MemoryError) as error:
        raise BadAgent(f"The weights cannot be read: {str(error)[:200]}.") from None
