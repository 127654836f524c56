"""Route of plug-ins."""

from fastapi import APIRouter

from backend.plugins.schemas import AllowedPlugin, PluginPart
from workers.contract.plugins.loading import PLUGINS

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
