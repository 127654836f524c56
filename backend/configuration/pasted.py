"""Configurations as text: YAML, TOML or JSON with the settings of a run."""

import json
import re
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import ValidationError

from backend.untrusted.reading import UnreadableError, parse
from workers.contract.config import CONFIGURATIONS, config_adapter
from workers.contract.config.problems import problems_of, title_of

Format = Literal["yaml", "toml", "json"]

MAX_TEXT_LENGTH = 100_000
# Settings that the method does not have, of those that are reported.
MAX_UNKNOWN = 100
# The first line with content starts with a table or an assignment.
_TOML_START = re.compile(r"\s*(#[^\n]*\n\s*)*(\[[\w.\"-]+\]|[\w\"-]+\s*=)")


@dataclass(frozen=True)
class TextProblem:
    """A problem of a text with its line and setting, if they are known."""

    line: int | None
    field: str | None
    message: str


@dataclass(frozen=True)
class ParsedText:
    """The valid settings of a text, those that its method does not have, and its errors."""

    format: Format
    values: dict[str, Any]
    unknown: list[TextProblem]
    errors: list[TextProblem]


class _UnreadableError(Exception):
    """Text that is not a list of settings."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


def parse_text(text: str, base: dict[str, Any]) -> ParsedText:
    """Parse the settings in a text. `base` has the values of the settings that the text leaves out."""
    found = _format_of(text)
    try:
        given = _read(text, found)
    except _UnreadableError as error:
        return ParsedText(found, {}, [], [TextProblem(error.line, None, str(error))])
    algorithm = given.get("algorithm", base.get("algorithm"))
    method = CONFIGURATIONS.get(algorithm) if isinstance(algorithm, str) else None
    if method is None:
        message = f"no such method: choose {', '.join(CONFIGURATIONS)}"
        return ParsedText(found, {}, [], [TextProblem(_line_of(text, "algorithm"), "algorithm", message)])
    known = {name: value for name, value in given.items() if name in method.model_fields}
    left_out = [name for name in given if name not in known]
    unknown = [
        TextProblem(_line_of(text, name), name, f"{title_of(str(algorithm))} has no such setting")
        for name in left_out[:MAX_UNKNOWN]
    ]
    kept = base if base.get("algorithm") == algorithm else {"algorithm": algorithm}
    try:
        config = config_adapter.validate_python({**kept, **known})
    except ValidationError as error:
        problems = [
            TextProblem(_line_of(text, problem.field.split(".")[0]), problem.field, problem.message)
            for problem in problems_of(error)
        ]
        return ParsedText(found, {}, unknown, problems)
    document = config.model_dump(mode="json")
    return ParsedText(found, {name: document[name] for name in known}, unknown, [])


def _format_of(text: str) -> Format:
    if text.lstrip().startswith("{"):
        return "json"
    return "toml" if _TOML_START.match(text) else "yaml"


def _read(text: str, format: Format) -> dict[str, Any]:  # noqa: A002 - the name in the API
    """Return the settings in a text, or those below its only key `config`."""
    try:
        given = _READERS[format](text)
    except RecursionError:
        raise _UnreadableError("the text is nested too deeply") from None
    if isinstance(given, dict) and [*given] == ["config"]:
        given = given["config"]
    if not isinstance(given, dict):
        raise _UnreadableError("write one setting per line, such as `learning_rate: 0.001`", 1)
    return {str(name): value for name, value in given.items()}


def _read_json(text: str) -> object:
    def settings(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, value in pairs:
            if name in found:
                raise _UnreadableError(f"{name} is set twice", _line_of(text, name))
            found[name] = value
        return found

    try:
        return json.loads(text, object_pairs_hook=settings)
    except json.JSONDecodeError as error:
        raise _UnreadableError(f"not valid JSON: {error.msg}", error.lineno) from None
    except ValueError as error:
        raise _UnreadableError(f"not valid JSON: {error}") from None


def _read_in_process(text: str, form: Literal["yaml", "toml"]) -> object:
    """Return the settings in YAML or TOML, whose parsers may compute for minutes."""
    try:
        found = parse("yaml_and_toml", f"{form}\n{text}".encode(errors="replace"))
    except UnreadableError as error:
        raise _UnreadableError(f"the text cannot be read: {error}") from None
    if "problem" in found:
        raise _UnreadableError(found["problem"], found["line"])
    return found["settings"]


def _read_yaml(text: str) -> object:
    return _read_in_process(text, "yaml")


def _read_toml(text: str) -> object:
    return _read_in_process(text, "toml")


_READERS = {"json": _read_json, "toml": _read_toml, "yaml": _read_yaml}


def _line_of(text: str, name: str) -> int | None:
    """Return the first line that sets a name."""
    found = re.search(rf"(?:^|[{{,\s])[\"']?{re.escape(name)}[\"']?\s*[:=]", text)
    if found is None:
        return None
    return text.count("\n", 0, found.start() + found[0].index(name)) + 1
