"""Configuration field for measuring the speed of the environments without a network."""

from dataclasses import dataclass

from pydantic import Field

from workers.contract.config.fields import RUN, TrainingConfig


@dataclass(frozen=True)
class Stepping:
    """Number of processes that step a run's environments, and the environments and threads of each."""

    processes: int
    envs: int = 1
    threads: int = 1


class CeilingFields(TrainingConfig):
    """Field of all methods except Gorila, whose actors may run on several hosts."""

    ceiling_seconds: float = Field(
        default=0.0,
        ge=0,
        le=60,
        title="Seconds of environments alone",
        description="Before training, the run steps its environments alone for this time, with random actions and the "
        "same processes or threads, and reports their steps per second. No method is faster on this host. 0: off.",
        json_schema_extra=RUN,
    )

    @property
    def stepping(self) -> Stepping:
        """How the environments step during training."""
        raise NotImplementedError
