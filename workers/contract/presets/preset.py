"""What a preset is."""

from dataclasses import dataclass

from workers.contract.config import RunConfig

# 4 M frames of Atari, by which the papers chart scores; they name no other interval between evaluations.
EPOCH_STEPS = 1_000_000


@dataclass(frozen=True)
class Preset:
    """A named, complete configuration that says what it shows and where its numbers come from."""

    name: str
    title: str
    shows: str
    source: str
    config: RunConfig
