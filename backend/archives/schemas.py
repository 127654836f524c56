"""Response models of the archives API."""

from pydantic import BaseModel, Field


class ImportResult(BaseModel):
    """Items that an import created, and items that were already here. All are ids of this installation."""

    runs: list[int] = Field(description="Imported runs, in the order of the archive.")
    studies: list[int] = Field(description="Imported studies.")
    reports: list[int] = Field(description="Imported reports.")
    already: list[int] = Field(description="Runs of the archive that were already here, unchanged.")
    already_studies: list[int] = Field(description="Studies of the archive that were already here.")
    already_reports: list[int] = Field(description="Reports of the archive that were already here.")
    notes: list[str] = Field(description="Sentences about what is different from the archive.")
