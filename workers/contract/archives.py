"""Files of columns with a head: NumPy .npz files without pickled objects, whose array `head` is JSON."""

import io
import json
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

Column = NDArray[Any]


class ArchiveError(Exception):
    """A file is not a readable archive."""


def packed(head: BaseModel, columns: Mapping[str, Column]) -> bytes:
    """Return the bytes of the file. Equal columns give equal bytes."""
    file = io.BytesIO()
    arrays: dict[str, Any] = {"head": np.array(head.model_dump_json()), **columns}
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def unpacked(file: Path | io.BytesIO, *, only_head: bool = False) -> tuple[dict[str, Any], dict[str, Column]]:
    """Read the head and the columns, or no columns."""
    try:
        with np.load(file, allow_pickle=False) as arrays:
            columns = {name: arrays[name] for name in arrays.files if name == "head" or not only_head}
        head: dict[str, Any] = json.loads(str(columns.pop("head")))
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise ArchiveError(str(error)) from error
    return head, columns
