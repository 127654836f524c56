"""Facts of a provenance as comparable values."""

from collections.abc import Mapping
from dataclasses import dataclass

from workers.contract.provenance import ProvenanceFacts

TITLES = {
    "build": "Arcadia",
    "commit": "Commit",
    "branch": "Branch",
    "changes": "Uncommitted changes",
    "python": "Python",
    "host": "Host",
    "os": "Operating system",
    "cpu": "Processor",
    "cores": "Cores",
    "memory": "Memory",
    "gpus": "GPUs",
    "driver": "NVIDIA driver",
    "cuda": "CUDA",
}
PACKAGE, VARIABLE = "package:", "variable:"
# Packages whose version can change results. They are listed before others.
DECISIVE = ("torch", "numpy", "gymnasium", "ale-py", "mujoco")
NOT_INSTALLED, NOT_SET = "not installed", "not set"

Packages = Mapping[str, str]
Values = dict[str, str | int]


@dataclass(frozen=True)
class StoredProvenance:
    """The provenance of an attempt, with the hash of its diff instead of the text."""

    facts: ProvenanceFacts
    packages: Packages
    diff_sha256: str | None


def comparable_values(provenance: StoredProvenance) -> Values:
    """Return the values by field. The command is left out: it names the run's directory, so it always differs."""
    facts = provenance.facts
    values: Values = {"build": facts.build}
    if checkout := facts.checkout:
        # The build repeats the commit.
        values = {"commit": checkout.commit[:12], "branch": checkout.branch or "none"}
        values["changes"] = _describe_changes(provenance.diff_sha256, len(checkout.untracked))
    values |= {"python": facts.python, "host": facts.host, "os": facts.os, "cpu": facts.cpu, "cores": facts.cores}
    values["memory"] = f"{facts.memory_bytes / 2**30:.1f} GiB"
    values["gpus"] = ", ".join(gpu.name for gpu in facts.gpus) or "none"
    values |= {name: value for name, value in (("driver", facts.driver), ("cuda", facts.cuda)) if value}
    values |= {f"{VARIABLE}{name}": value for name, value in facts.environment.items()}
    return values | {f"{PACKAGE}{name}": version for name, version in provenance.packages.items()}


def fill_gaps(values: Mapping[int, Values]) -> None:
    """Add packages that only some have as not installed, and variables as not set."""
    fields = dict.fromkeys(field for each in values.values() for field in each)
    for prefix, missing in ((PACKAGE, NOT_INSTALLED), (VARIABLE, NOT_SET)):
        for field in fields:
            if field.startswith(prefix):
                for each in values.values():
                    each.setdefault(field, missing)


def listing_order(field: str) -> int:
    """Return a sort key: facts, packages that can change results, variables, other packages."""
    if field.startswith(PACKAGE):
        return 1 if field.removeprefix(PACKAGE) in DECISIVE else 3
    return 2 if field.startswith(VARIABLE) else 0


def title_of(field: str) -> str:
    """Return the name of a field: the name of a package or variable, or the title of a fact."""
    return TITLES.get(field) or field.partition(":")[2]


def changes_between(before: StoredProvenance, after: StoredProvenance) -> list[str]:
    """Return the titles of the facts that differ."""
    values = {0: comparable_values(before), 1: comparable_values(after)}
    fill_gaps(values)
    fields = dict.fromkeys([*values[0], *values[1]])
    return [title_of(field) for field in fields if values[0].get(field) != values[1].get(field)]


def _describe_changes(diff_sha256: str | None, untracked: int) -> str:
    parts = [f"diff {diff_sha256[:8]}"] if diff_sha256 else []
    if untracked:
        parts.append(f"{untracked:,} untracked file{'' if untracked == 1 else 's'}")
    return ", ".join(parts) or "none"
