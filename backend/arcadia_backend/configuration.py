"""Configurations from requests: complete, validate, and compare them with a parent run."""

import json
import re
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field, ValidationError
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from arcadia_backend.database.engine import Db
from arcadia_backend.database.tables import Run
from arcadia_backend.errors import FieldError, Invalid
from arcadia_backend.untrusted.reading import UnreadableError, parse
from arcadia_workers.contract.config import CONFIGURATIONS, RunConfig, TrainingConfig, config_adapter, methods_for
from arcadia_workers.contract.config.problems import FieldProblem, problems_of, title_of
from arcadia_workers.contract.environment_families import EnvironmentFamily
from arcadia_workers.contract.games import ENVIRONMENTS
from arcadia_workers.contract.plugins.loading import needed_plugins
from arcadia_workers.contract.presets import PRESETS, refusal_of_other_method, unknown_preset
from arcadia_workers.contract.presets.preset import Origin, stated_for
from arcadia_workers.contract.worker_api import QueueName


def validate(config: dict[str, Any], overrides: dict[str, Any]) -> RunConfig:
    """Return the complete configuration. Raise Invalid with fields named config.x, or overrides.x if overridden."""
    try:
        return config_adapter.validate_python({**config, **overrides})
    except ValidationError as error:
        raise Invalid(
            *(
                _placed("overrides" if problem.field.split(".")[0] in overrides else "config", problem)
                for problem in problems_of(error)
            )
        ) from None


def override(config: dict[str, Any], overrides: dict[str, Any]) -> RunConfig:
    """Return a preset's or run's configuration with overrides. Raise Invalid with fields named overrides.x."""
    if refusal := refusal_of_other_method(config["algorithm"], overrides.get("algorithm")):
        raise Invalid(_placed("overrides", refusal))
    try:
        return config_adapter.validate_python({**config, **overrides})
    except ValidationError as error:
        raise Invalid(*(_placed("overrides", problem) for problem in problems_of(error))) from None


def from_preset(name: str, overrides: dict[str, Any]) -> RunConfig:
    """Return a preset's configuration with overrides."""
    if name not in PRESETS:
        raise Invalid(FieldError(field="preset", message=unknown_preset(name)))
    return override(to_document(PRESETS[name].config), overrides)


def build_config(config: dict[str, Any] | None, preset: str | None, overrides: dict[str, Any]) -> RunConfig:
    """Return the configuration of a new run: a complete one or a preset, with overrides."""
    if preset is not None:
        if config is not None:
            raise Invalid(FieldError(field="config", message="send either config or preset, not both"))
        return from_preset(preset, overrides)
    if config is None:
        raise Invalid(FieldError(field="config", message="send config, or preset with overrides"))
    return validate(config, overrides)


def to_run_columns(config: RunConfig, name: str | None, queue: QueueName | None) -> dict[str, Any]:
    """Return the columns of a new run that depend on its configuration. Without name or queue, use defaults."""
    document = to_document(config)
    return {
        "name": name or f"{title_of(config.algorithm)} on {config.environment.title}",
        "algorithm": config.algorithm,
        "env": config.env,
        "queue": queue or queue_for(config),
        "config": document,
        "total_steps": config.total_steps,
        "needed_plugins": ",".join(needed_plugins(document)),
    }


def to_document(config: TrainingConfig) -> dict[str, Any]:
    """Return the configuration with all fields, as it is stored."""
    return config.model_dump(mode="json")


def queue_for(config: RunConfig) -> QueueName:
    """Return the default queue of a configuration."""
    return "gpu" if config.device == "cuda" else "cpu"


def refuse_other_shape(config: RunConfig, parent: RunConfig) -> None:
    """Raise Invalid if the network of a fork does not fit its checkpoint."""
    ours, theirs = config.shape, parent.shape
    wrong = [
        FieldError(
            field=f"overrides.{field}",
            message=f"the checkpoint was trained with {theirs[field]}, which a fork cannot change. Clone the run",
        )
        for field in parent.shape_fields
        if ours.get(field) != theirs[field]
    ]
    if wrong:
        raise Invalid(*wrong)


def refuse_no_steps(config: RunConfig, trained: int) -> None:
    """Raise Invalid if a fork would have no steps to train."""
    if config.total_steps <= trained:
        raise Invalid(
            FieldError(
                field="overrides.total_steps",
                message=f"the checkpoint already has {trained:,} steps. Use a larger total",
            )
        )


def _placed(place: str, problem: FieldProblem) -> FieldError:
    return FieldError(field=f"{place}.{problem.field}", message=problem.message)


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
    text_format = _format_of(text)
    try:
        given = _read(text, text_format)
    except _UnreadableError as error:
        return ParsedText(text_format, {}, [], [TextProblem(error.line, None, str(error))])
    algorithm = given.get("algorithm", base.get("algorithm"))
    method = CONFIGURATIONS.get(algorithm) if isinstance(algorithm, str) else None
    if method is None:
        message = f"no such method: choose {', '.join(CONFIGURATIONS)}"
        return ParsedText(text_format, {}, [], [TextProblem(_line_of(text, "algorithm"), "algorithm", message)])
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
        return ParsedText(text_format, {}, unknown, problems)
    document = config.model_dump(mode="json")
    return ParsedText(text_format, {name: document[name] for name in known}, unknown, [])


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
        values: dict[str, Any] = {}
        for name, value in pairs:
            if name in values:
                raise _UnreadableError(f"{name} is set twice", _line_of(text, name))
            values[name] = value
        return values

    try:
        return json.loads(text, object_pairs_hook=settings)
    except json.JSONDecodeError as error:
        raise _UnreadableError(f"not valid JSON: {error.msg}", error.lineno) from None
    except ValueError as error:
        raise _UnreadableError(f"not valid JSON: {error}") from None


def _read_in_process(text: str, form: Literal["yaml", "toml"]) -> object:
    """Return the settings in YAML or TOML, whose parsers may compute for minutes."""
    try:
        parsed = parse("yaml_and_toml", f"{form}\n{text}".encode(errors="replace"))
    except UnreadableError as error:
        raise _UnreadableError(f"the text cannot be read: {error}") from None
    if "problem" in parsed:
        raise _UnreadableError(parsed["problem"], parsed["line"])
    return parsed["settings"]


def _read_yaml(text: str) -> object:
    return _read_in_process(text, "yaml")


def _read_toml(text: str) -> object:
    return _read_in_process(text, "toml")


_READERS = {"json": _read_json, "toml": _read_toml, "yaml": _read_yaml}


def _line_of(text: str, name: str) -> int | None:
    """Return the first line that sets a name."""
    match = re.search(rf"(?:^|[{{,\s])[\"']?{re.escape(name)}[\"']?\s*[:=]", text)
    if match is None:
        return None
    return text.count("\n", 0, match.start() + match[0].index(name)) + 1


router = APIRouter(tags=["configuration"])


class StatedDifference(BaseModel):
    """A field whose values in a paper, its code and the preset differ. "" means not stated."""

    field: str
    title: str
    paper: str
    code: str = Field(description="Value in the authors' code, or in the replication that `source` names.")
    ours: str
    why: str


class Preset(BaseModel):
    """A named, complete configuration."""

    name: str
    title: str
    shows: str
    source: str
    origin: Origin = Field(description="Where its settings are from. `tuned` is by experiments with Arcadia.")
    method: str = Field(description="Name of the method for display.")
    config: dict[str, Any]
    differences: list[StatedDifference] = Field(description="Differences from the paper and its code.")


class Environment(BaseModel):
    """An environment of runs."""

    id: str
    title: str
    group: str = Field(description="Group in the list of environments.")
    family: EnvironmentFamily
    frames_per_step: int
    algorithms: list[str] = Field(description="Methods that support it.")
    unfit_because: str = Field(description="Why other methods do not support it, as the end of a sentence.")
    picture_file_id: int | None = Field(description="Latest frame of the newest run in it.")


@router.get("/config-schema")
def read_config_schema() -> dict[str, Any]:
    """Return the JSON schema of the run configuration."""
    return config_adapter.json_schema()


class ConfigText(BaseModel):
    """Settings of a run as YAML, TOML or JSON."""

    text: Annotated[str, Field(max_length=MAX_TEXT_LENGTH)]
    base: dict[str, Any] = Field(default={}, max_length=200, description="Values of the settings that the text omits.")


@router.post("/configurations/parse")
def parse_configuration(given: ConfigText) -> ParsedText:
    """Parse settings without applying them. Errors and unknown settings have their lines."""
    return parse_text(given.text, given.base)


@router.get("/presets")
def list_presets() -> list[Preset]:
    """List the presets with their configurations."""
    return [
        Preset(
            name=preset.name,
            title=preset.title,
            shows=preset.shows,
            source=preset.source,
            origin=preset.origin,
            method=title_of(preset.config.algorithm),
            config=to_document(preset.config),
            differences=[
                StatedDifference(
                    field=row.field,
                    title=type(preset.config).model_fields[row.field].title or row.field,
                    paper=row.paper,
                    code=row.code,
                    ours=row.ours,
                    why=row.why,
                )
                for row in stated_for(preset.name)
                if row.differs
            ],
        )
        for preset in PRESETS.values()
    ]


@router.get("/environments")
def list_environments(db: Db) -> list[Environment]:
    """List the environments."""
    with db.read() as session:
        pictures = _pictures(session)
    return [
        Environment(
            id=environment.id,
            title=environment.title,
            group=environment.group,
            family=environment.family,
            frames_per_step=environment.frames_per_step,
            algorithms=methods_for(environment),
            unfit_because=environment.unfit_because,
            picture_file_id=pictures.get(environment.id),
        )
        for environment in ENVIRONMENTS.values()
    ]


def _pictures(session: Session) -> dict[str, int | None]:
    """Return the file id of the latest frame of the newest run in each environment."""
    newest = select(func.max(Run.id)).where(Run.poster_file_id.is_not(None)).group_by(Run.env)
    rows = session.execute(select(Run.env, Run.poster_file_id).where(Run.id.in_(newest)))
    return {row.env: row.poster_file_id for row in rows}
