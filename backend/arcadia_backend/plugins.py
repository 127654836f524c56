"""Plug-ins: the packages that an administrator has allowed."""

import logging

from fastapi import APIRouter
from pydantic import BaseModel, Field

from arcadia_backend.config import Settings
from arcadia_backend.papers import service as papers
from arcadia_workers.contract.plugins.discovery import package_names
from arcadia_workers.contract.plugins.loading import GROUPS, PLUGINS
from arcadia_workers.contract.plugins.trial import load_after_trial


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


log = logging.getLogger(__name__)


def load_plugins(settings: Settings) -> None:
    """Load the allowed packages. A faulty one is reported and left out."""
    load_after_trial(package_names(",".join(settings.plugins)), (*GROUPS, papers.GROUP), (papers.REFERENCE,))
    for plugin in PLUGINS.values():
        if plugin.problem:
            log.warning("Plug-in %s: %s", plugin.name, plugin.problem)


router = APIRouter(tags=["configuration"])


@router.get("/plugins")
def list_plugins() -> list[AllowedPlugin]:
    """List the allowed plug-ins of this server. The workers list theirs."""
    return [
        AllowedPlugin(
            name=plugin.name,
            version=plugin.version,
            problem=plugin.problem,
            parts=[PluginPart(kind=noun, name=key) for noun, key in plugin.parts],
        )
        for plugin in PLUGINS.values()
    ]
