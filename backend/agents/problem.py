"""The problem of an agent file that cannot be imported, and the guards that raise it."""

from backend.errors import Problem
from backend.files.zip_guards import ZipGuards
from workers.contract.agents.document import MEMBER

# The members of a file of Stable-Baselines3.
_OF_STABLE_BASELINES = r"data|[a-z0-9_]{1,40}(\.optimizer)?\.pth|_stable_baselines3_version|system_info\.txt"


class BadAgent(Problem):
    """The file is not an agent file, or it is unsafe to import. Nothing was changed."""

    status = 422
    kind = "bad-agent"
    title = "Agent cannot be imported"


GUARDS = ZipGuards("Arcadia agent file", f"{MEMBER}|{_OF_STABLE_BASELINES}", BadAgent)
