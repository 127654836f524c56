"""A named configuration that a run starts from."""

from dataclasses import dataclass

from workers.contract.config import RunConfig

# 4 M frames of Atari, the epoch of the papers' charts. The papers state no other interval between evaluations.
EPOCH_STEPS = 1_000_000


@dataclass(frozen=True)
class Preset:
    """A named, complete configuration with what it shows and the source of its numbers."""

    name: str
    title: str
    shows: str
    source: str
    config: RunConfig
