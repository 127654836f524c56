"""What a protocol is: how an agent is evaluated, so that its score compares with other scores of the same protocol."""

from dataclasses import dataclass
from typing import Literal

from workers.contract.environment_families import EnvironmentFamily, Opening

# Whose play start points were cut from.
StartPlayer = Literal["human", "agent"]


@dataclass(frozen=True)
class EvaluationProtocol:
    """A way to evaluate an agent; a score belongs to it and compares only with others of its name."""

    name: str
    title: str
    # What happens, for the user.
    sentence: str
    # Which paper has it, and where.
    source: str
    opening: Opening
    # How many episodes unless told otherwise; with start points, how many a set should have.
    episodes: int
    # The fewest and the most frames without action before the agent takes over.
    noops: tuple[int, int] | None = None
    # Frames after which an episode is cut off, counted from the reset, so with those before the agent takes over.
    cap_frames: int | None = None
    # Whether points made before the agent takes over are left out of its score.
    own_points_only: bool = False
    starts_from: StartPlayer | None = None
    # The probability with which the emulator repeats the action of the frame before.
    repeat_action_probability: float = 0.0
    # Whether agents choose among all actions of the joystick; otherwise among those that they were trained with.
    full_action_set: bool = False
    # The protocol whose published random and human scores normalize a score, if this one has none of its own.
    normalized_by: str | None = None

    def fits(self, family: EnvironmentFamily) -> bool:
        """Return True if environments of this family can be evaluated by the protocol."""
        return self.opening in family.openings
