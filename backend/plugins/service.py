"""Loading of plug-ins by the backend."""

import logging

from backend.config import Settings
from backend.papers import plugins as papers
from workers.contract.plugins.discovery import allowed_names
from workers.contract.plugins.groups import GROUPS
from workers.contract.plugins.loading import PLUGINS
from workers.contract.plugins.trial import load_after_trial

log = logging.getLogger(__name__)


def load_plugins(settings: Settings) -> None:
    """Load the allowed packages. A faulty one is reported and left out."""
    load_after_trial(allowed_names(",".join(settings.plugins)), (*GROUPS, papers.GROUP), (papers.REFERENCE,))
    for plugin in PLUGINS.values():
        if plugin.problem:
            log.warning("Plug-in %s: %s", plugin.name, plugin.problem)
