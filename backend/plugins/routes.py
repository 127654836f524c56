"""Route of plug-ins."""

from fastapi import APIRouter

from backend.plugins.schemas import Plugin, PluginPart
from workers.contract.plugins.loading import PLUGINS

router = APIRouter(tags=["configuration"])


@router.get("/plugins")
def list_plugins() -> list[Plugin]:
    """List the allowed plug-ins of this server. The workers list theirs."""
    return [
        Plugin(
            name=plugin.name,
            version=plugin.version,
            problem=plugin.problem,
            parts=[PluginPart(kind=noun, name=key) for noun, key in plugin.parts],
        )
        for plugin in PLUGINS.values()
    ]
