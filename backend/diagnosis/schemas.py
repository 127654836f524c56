"""Response models of the diagnosis."""

from pydantic import BaseModel, Field, JsonValue

from backend.database.tables import StudyState
from backend.marks.schemas import RuleName
from backend.studies.specification import Specification


class Evidence(BaseModel):
    """Where a curve shows a finding."""

    metric: str
    title: str = Field(description="Title of the metric.")
    first_step: int
    last_step: int


class SuggestedSetting(BaseModel):
    """A field of the configuration that may fix a finding."""

    field: str
    title: str
    current: JsonValue
    suggested: JsonValue


class FixTest(BaseModel):
    """A study that tests the suggested settings of a finding."""

    study_id: int
    name: str
    state: StudyState
    verdict: str | None = Field(description="Null until the study has finished.")


class Finding(BaseModel):
    """A fault of a run, with its cause, its evidence and the settings that may fix it."""

    rule: RuleName
    title: str
    cause: str
    detail: str
    evidence: Evidence
    settings: list[SuggestedSetting] = Field(description="Empty if no setting fixes it.")
    test: Specification | None = Field(
        description="Study of the current against the suggested settings, for POST /studies. Null if there is none."
    )
    tests: list[FixTest] = Field(description="Studies that test it, newest first.")
