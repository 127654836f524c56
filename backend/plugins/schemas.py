"""Schemas of plug-ins."""

from pydantic import BaseModel, Field


class PluginPart(BaseModel):
    """A part of Arcadia that a plug-in adds."""

    kind: str = Field(description="Such as method or environment.")
    name: str


class AllowedPlugin(BaseModel):
    """An allowed package."""

    name: str
    version: str | None = Field(description="Null if it is not installed here.")
    problem: str | None = Field(description="Why this server cannot use it, as a sentence.")
    parts: list[PluginPart]
