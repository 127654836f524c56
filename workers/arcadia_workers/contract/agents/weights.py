"""Weights of an agent as bytes, in checkpoints and agent files, and as NumPy arrays. Needs no torch."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic_core import from_json
from safetensors import SafetensorError, deserialize

# The component of a checkpoint that has the weights.
NETWORK = "network."
METADATA = "__metadata__"
# The largest header of a file of weights.
MAX_HEADER_BYTES = 1_000_000

_TYPES: dict[str, str] = {"F64": "<f8", "F32": "<f4", "F16": "<f2"}
_ITEM_BYTES = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2}


class WeightsError(ValueError):
    """The content is not a file of weights that can be read."""


@dataclass(frozen=True)
class Weights:
    """One tensor of weights in the number format that it was saved in, such as F32."""

    dtype: str
    shape: tuple[int, ...]
    data: bytes

    def to_float32(self) -> NDArray[np.float32]:
        """Return the numbers as an array."""
        if self.dtype == "BF16":
            # bfloat16 is the upper half of float32.
            bits = np.frombuffer(self.data, dtype="<u2").astype(np.uint32) << 16
            return bits.view(np.float32).reshape(self.shape)
        return np.frombuffer(self.data, dtype=_TYPES[self.dtype]).astype(np.float32).reshape(self.shape)


def of_array(array: NDArray[Any]) -> Weights:
    """Return weights with the numbers of an array."""
    return Weights("F32", array.shape, np.ascontiguousarray(array, dtype="<f4").tobytes())


def read(content: bytes) -> dict[str, Weights]:
    """Read the tensors of a safetensors file. Raise WeightsError if the content is not such a file."""
    _check_header_size(content)
    try:
        return {
            str(name): Weights(entry["dtype"], tuple(entry["shape"]), bytes(entry["data"]))
            for name, entry in deserialize(content)  # type: ignore[no-untyped-call]
        }
    except SafetensorError as error:
        raise WeightsError(f"it is not a safetensors file ({str(error)[:200]})") from None


def _check_header_size(content: bytes) -> None:
    if int.from_bytes(content[:8], "little") > MAX_HEADER_BYTES:
        raise WeightsError(f"its header is larger than {MAX_HEADER_BYTES:,} bytes")


def read_metadata(content: bytes) -> dict[str, Any]:
    """Return the metadata of a safetensors file. Raise WeightsError if the content is not such a file."""
    _check_header_size(content)
    try:
        header = from_json(content[8 : 8 + int.from_bytes(content[:8], "little")])
    except ValueError as error:
        raise WeightsError(f"its header is not JSON ({str(error)[:200]})") from None
    metadata = header.get(METADATA, {}) if isinstance(header, dict) else None
    if not isinstance(metadata, dict):
        raise WeightsError("its header is not an object")
    return metadata


def check_numbers(tensors: Mapping[str, Weights]) -> None:
    """Raise WeightsError if a tensor has another number format, or a number that is NaN or infinite."""
    for name, tensor in tensors.items():
        if tensor.dtype not in _ITEM_BYTES:
            raise WeightsError(f"{name[:100]!r} has the number format {tensor.dtype}")
        if not np.isfinite(tensor.to_float32()).all():
            raise WeightsError(f"{name[:100]!r} has numbers that are NaN or infinite")


def network_of(checkpoint: Iterable[tuple[str, Weights]]) -> dict[str, Weights]:
    """Return the weights of the network in a checkpoint, by their names within the network."""
    return {name.removeprefix(NETWORK): tensor for name, tensor in checkpoint if name.startswith(NETWORK)}


def to_component(network: Mapping[str, Weights]) -> dict[str, Weights]:
    """Return the weights of a network by their names in a checkpoint."""
    return {f"{NETWORK}{name}": tensor for name, tensor in network.items()}


def pack(tensors: Mapping[str, Weights], metadata: Mapping[str, str]) -> bytes:
    """Return the content of a safetensors file. Equal tensors make equal files."""
    header: dict[str, Any] = {METADATA: dict(metadata)} if metadata else {}
    end = 0
    # The largest number format first, so that every tensor is aligned.
    ordered = sorted(tensors.items(), key=lambda item: (-_ITEM_BYTES[item[1].dtype], item[0]))
    for name, tensor in ordered:
        header[name] = {"dtype": tensor.dtype, "shape": tensor.shape, "data_offsets": (end, end + len(tensor.data))}
        end += len(tensor.data)
    encoded = json.dumps(header).encode()
    encoded += b" " * (-len(encoded) % 8)
    return b"".join([len(encoded).to_bytes(8, "little"), encoded, *(tensor.data for _, tensor in ordered)])
