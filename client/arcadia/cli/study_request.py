"""The specification of a study from a file, or from a preset and axes. The server validates it."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from arcadia.cli.options import parse_value
from arcadia.errors import ArcadiaError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_RANGE = re.compile(r"(log|uniform)\(\s*([^,()]+?)\s*,\s*([^,()]+?)\s*\)")


def build_request(
    *,
    file: Path | None,
    preset: str | None,
    axes: list[str],
    points: int | None,
    seeds: str | None,
    options: dict[str, Any],
) -> dict[str, Any]:
    """Return the specification. Options that are None keep the value of the file."""
    if (file is None) == (preset is None):
        raise ArcadiaError("Give either a file or --preset.")
    given: dict[str, Any] = {"preset": preset, "name": preset}
    found = given if file is None else read_specification(file)
    if axes:
        found["axes"] = [*found.get("axes", []), *map(parse_axis, axes)]
    if seeds is not None:
        found["seeds"] = int(seeds) if seeds.isdecimal() else seeds
    if points is not None:
        found |= {"sampler": "random", "points": points}
    return found | {name: value for name, value in options.items() if value is not None}


def read_specification(file: Path) -> dict[str, Any]:
    """Return the content of a TOML file."""
    try:
        found: dict[str, Any] = tomllib.loads(file.read_text())
        json.dumps(found)
    except OSError as error:
        raise ArcadiaError(f"{file} cannot be read: {error.strerror}") from None
    except tomllib.TOMLDecodeError as error:
        raise ArcadiaError(f"{file} is not TOML: {error}") from None
    except (TypeError, UnicodeDecodeError) as error:
        raise ArcadiaError(f"{file} contains values that no study can have, such as a date: {error}") from None
    return found


def parse_axis(text: str) -> dict[str, Any]:
    """Return an axis from FIELD=VALUES, where values are a list or a range such as log(1e-4,1e-2)."""
    field, equals, values = text.partition("=")
    if not equals or not values.strip():
        raise ArcadiaError(f"--axis {text}: give a field with its values, such as learning_rate=1e-4,3e-4")
    if match := _RANGE.fullmatch(values.strip()):
        kind = "log_uniform" if match[1] == "log" else "uniform"
        return {"field": field.strip(), kind: [parse_value(match[2]), parse_value(match[3])]}
    return {"field": field.strip(), "values": [parse_value(value.strip()) for value in values.split(",")]}
