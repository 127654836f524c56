"""The field of the methods that can first measure how fast their environments step by themselves."""

from dataclasses import dataclass

from pydantic import Field

from workers.contract.config.fields import RUN, TrainingConfig


@dataclass(frozen=True)
class Stepping:
    """How the environments of a run step: in so many processes, each with so many environments and threads."""

    processes: int
    envs: int = 1
    threads: int = 1


class CeilingFields(TrainingConfig):
    """The field of all methods but Gorila, whose actors may be spread over hosts."""

    ceiling_seconds: float = Field(
        default=0.0,
        ge=0,
        le=60,
        title="Seconds of environments alone",
        description="Before it trains, the run steps its environments by themselves for so many seconds, with random "
        "actions and in as many processes or threads, and reports their steps a second: no method is faster on this "
        "host. 0: not measured.",
        json_schema_extra=RUN,
    )

    @property
    def stepping(self) -> Stepping:
        """How the environments step while the run trains."""
        raise NotImplementedError
