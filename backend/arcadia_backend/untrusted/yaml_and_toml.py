"""Configurations in YAML or TOML. The first line of the content names the format.

The result is an object with the `settings`, or with a `problem` and its `line`.
"""

import re
import tomllib
from typing import Any

import yaml

MAX_DEPTH = 50
_TOML_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")
# YAML 1.1 reads 1e-3 as text, because it has no decimal point.
_EXPONENT = re.compile(r"^[-+]?\d[\d_]*(\.\d*)?[eE][-+]?\d+$")


class _WrongText(Exception):  # noqa: N818 - it is reported, not raised to the caller
    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


class _Loader(yaml.SafeLoader):  # type: ignore[misc] # PyYAML has no types
    """Loader that reads 1e-3 as a number, and refuses aliases and repeated settings."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Refuse aliases, which can expand to texts of any size."""
        if self.check_event(yaml.AliasEvent):
            raise _WrongText("aliases are not supported", self.peek_event().start_mark.line + 1)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        """Refuse repeated settings."""
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key.value, str) and key.value in seen:
                raise _WrongText(f"{key.value} is set twice", key.start_mark.line + 1)
            if isinstance(key.value, str):
                seen.add(key.value)
        return super().construct_mapping(node, deep)


_Loader.add_implicit_resolver("tag:yaml.org,2002:float", _EXPONENT, [*"-+0123456789"])


def _read_yaml(text: str) -> Any:
    try:
        return yaml.load(text, _Loader)  # noqa: S506 - a safe loader
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        raise _WrongText(f"not valid YAML: {error.problem}", line) from None
    except (yaml.YAMLError, ValueError) as error:
        raise _WrongText(f"not valid YAML: {str(error).splitlines()[0]}") from None


def _read_toml(text: str) -> Any:
    try:
        return tomllib.loads(text)
    except ValueError as error:
        message = str(error)
        place = _TOML_PLACE.search(message)
        line = None if place is None else int(place[1] or text.count("\n") + 1)
        raise _WrongText(f"not valid TOML: {_TOML_PLACE.sub('', message)}", line) from None


def _plain(value: Any, depth: int = 0) -> Any:
    """Return a value as JSON knows it: dates and bytes become texts."""
    if depth > MAX_DEPTH:
        raise _WrongText("the text is nested too deeply")
    if isinstance(value, dict):
        return {str(name): _plain(each, depth + 1) for name, each in value.items()}
    if isinstance(value, list | tuple | set):
        return [_plain(each, depth + 1) for each in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def parse(content: bytes) -> dict[str, Any]:
    """Return the settings of a text, or its problem."""
    form, _, text = content.decode().partition("\n")
    try:
        return {"settings": _plain(_read_yaml(text) if form == "yaml" else _read_toml(text))}
    except _WrongText as error:
        return {"problem": str(error), "line": error.line}
    except RecursionError:
        return {"problem": "the text is nested too deeply", "line": None}
