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
        title="Speed ceiling, seconds",
        description="Before training, measure for this time how fast the environments step without a network, with "
        "random actions and the same processes or threads. No method can be faster on this host. 0: off.",
        json_schema_extra=RUN,
    )

    @property
    def stepping(self) -> Stepping:
        """The processes, environments and threads that step the environments during training."""
        raise NotImplementedError
