"""Evaluation protocol: the rules that make scores comparable."""

from dataclasses import dataclass
from typing import Literal

from workers.contract.environment_families import EnvironmentFamily, Opening

# The player whose play contains the start points.
StartPlayer = Literal["human", "agent"]


@dataclass(frozen=True)
class EvaluationProtocol:
    """The rules of an evaluation. A score compares only with scores of the same protocol."""

    name: str
    title: str
    # A description for users.
    sentence: str
    # The paper, and the place in it.
    source: str
    opening: Opening
    # Default number of episodes. With start points, the number that a set should have.
    episodes: int
    # The minimum and maximum number of frames without action before the agent takes over.
    noops: tuple[int, int] | None = None
    # Frames after which an episode is cut off, counted from the reset, including those before the agent takes over.
    cap_frames: int | None = None
    # Whether the score excludes points made before the agent takes over.
    own_points_only: bool = False
    starts_from: StartPlayer | None = None
    # The probability that the emulator repeats the action of the previous frame.
    repeat_action_probability: float = 0.0
    # Whether agents choose among all joystick actions. If not, they choose among the actions of their training.
    full_action_set: bool = False
    # The protocol whose published random and human scores normalize a score, if no scores are published for this one.
    normalized_by: str | None = None

    def fits(self, family: EnvironmentFamily) -> bool:
        """Return True if environments of this family can be evaluated by the protocol."""
        return self.opening in family.openings
