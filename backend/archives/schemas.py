"""Response models of the archives API."""

from pydantic import BaseModel, Field


class ImportResult(BaseModel):
    """What an import created, and what an earlier import had created. All are ids of this installation."""

    runs: list[int] = Field(description="Imported runs, in the order of the archive.")
    already: list[int] = Field(description="Runs of the archive that were already here, unchanged.")
    notes: list[str] = Field(description="Sentences about what is different from the archive.")
