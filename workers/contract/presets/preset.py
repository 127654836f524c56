"""What a preset is."""

from dataclasses import dataclass

from workers.contract.config import RunConfig


@dataclass(frozen=True)
class Preset:
    """A named, complete configuration that says what it shows and where its numbers come from."""

    name: str
    title: str
    shows: str
    source: str
    config: RunConfig
