"""Routes of the configuration schema, the presets and the environments, for the launch form."""

from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import BaseModel, Field
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.configuration.configs import to_document
from backend.configuration.pasted import MAX_TEXT_LENGTH, ParsedText, parse_text
from backend.database.engine import Db
from backend.database.tables import Run
from workers.contract.config import config_adapter, methods_for
from workers.contract.config.problems import title_of
from workers.contract.environment_families import EnvironmentFamily
from workers.contract.games import ENVIRONMENTS
from workers.contract.presets import PRESETS
from workers.contract.presets.stated import stated_for

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
