"""Response models of the provenance API."""

from datetime import datetime

from pydantic import BaseModel, Field

from workers.contract.provenance import Provenance


class AttemptSummary(BaseModel):
    """An attempt of a run, and what differs from the attempt before."""

    attempt: int
    worker: str | None = Field(description="Null for a writer of a reported run.")
    claimed_at: datetime
    recorded: bool = Field(description="False for attempts of earlier versions, and until the trainer has reported.")
    changes: list[str] = Field(
        description="Names of the facts that differ from the recorded attempt before, such as Commit or torch."
    )


class RunProvenance(BaseModel):
    """The code, packages, host and command of one attempt of a run."""

    attempt: int | None = Field(description="The requested or latest recorded attempt. Null if none is recorded.")
    provenance: Provenance | None
    attempts: list[AttemptSummary] = Field(description="All attempts, oldest first.")
