"""Response models of the agents API."""

from pydantic import BaseModel, Field


class ImportedAgent(BaseModel):
    """The run that has an imported agent."""

    run_id: int
    checkpoint_id: int
    already: bool = Field(description="Whether the same agent was imported before. Nothing was stored.")
