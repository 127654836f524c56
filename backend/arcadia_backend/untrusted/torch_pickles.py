"""Pickles of torch that describe a dictionary of tensors. No code of a pickle runs.

A pickle may only call the functions that rebuild tensors, which are replaced with ones that note their arguments. The
result is a list with the name, storage type, storage key, offset, size and stride of each tensor.
"""

import codecs
import io
import pickle
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

MAX_TENSORS, MAX_NAME, MAX_DIMENSIONS = 10_000, 500, 8
_STORAGES = ("FloatStorage", "DoubleStorage", "HalfStorage")
# Load them now, because no file can be opened later.
_CODECS = [codecs.lookup(name) for name in ("ascii", "latin-1", "raw_unicode_escape")]


@dataclass(frozen=True, slots=True)
class _Storage:
    kind: str
    key: str


@dataclass(frozen=True, slots=True)
class _Tensor:
    storage: _Storage
    offset: int
    size: list[int]
    stride: list[int]


class _Unpickler(pickle._Unpickler):
    """Unpickler that knows only dictionaries of tensors. The one in C allocates as much memory as the file requests."""

    def find_class(self, module: str, name: str) -> Any:
        """Return a replacement for the few allowed names. Raise ValueError for all others."""
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _rebuild
        if module == "torch" and name in _STORAGES:
            return name
        raise ValueError(f"it refers to {module[:80]}.{name[:80]}, which is not allowed in a file of weights")

    def persistent_load(self, pid: Any) -> _Storage:
        """Return the numbers that a tensor refers to."""
        kind, storage, key, _device, _count = pid
        if kind != "storage" or storage not in _STORAGES or not (isinstance(key, str) and key.isdecimal()):
            raise ValueError("it has a part that is not a storage of numbers")
        return _Storage(storage, key[:20])


def _rebuild(storage: Any, offset: Any, size: Any, stride: Any, *_: Any) -> _Tensor:
    if not isinstance(storage, _Storage) or not isinstance(offset, int):
        raise TypeError("it has a tensor without a storage of numbers")
    if max(len(size), len(stride)) > MAX_DIMENSIONS:
        raise ValueError(f"it has a tensor of more than {MAX_DIMENSIONS} dimensions")
    return _Tensor(storage, offset, [_whole(each) for each in size], [_whole(each) for each in stride])


def _whole(number: Any) -> int:
    if not isinstance(number, int) or abs(number) >= 2**63:
        raise ValueError("it has a tensor whose size is not a number")
    return int(number)


def parse(content: bytes) -> list[tuple[str, str, str, int, list[int], list[int]]]:
    """Return the tensors of a pickle."""
    unpickled = _Unpickler(io.BytesIO(content)).load()
    if not isinstance(unpickled, dict) or not all(
        isinstance(name, str) and isinstance(tensor, _Tensor) for name, tensor in unpickled.items()
    ):
        raise ValueError("it is not a dictionary of tensors")
    if len(unpickled) > MAX_TENSORS or max(map(len, unpickled), default=0) > MAX_NAME:
        raise ValueError(f"it has more than {MAX_TENSORS:,} tensors, or a name of more than {MAX_NAME} characters")
    return [
        (name, each.storage.kind, each.storage.key, _whole(each.offset), each.size, each.stride)
        for name, each in unpickled.items()
    ]
