"""Evaluation protocols: the rules that make scores comparable."""

from dataclasses import dataclass
from typing import Literal

from arcadia_workers.contract.environment_families import EnvironmentFamily, Opening

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


EPISODES = EvaluationProtocol(
    name="episodes",
    title="Episodes",
    sentence="30 episodes from the environment's own start to its own end. For environments other than Atari games.",
    source="Arcadia; the papers define protocols only for Atari games",
    opening="plain",
    episodes=30,
)


NO_OP_30MIN = EvaluationProtocol(
    name="no-op-30min",
    title="No-op starts, 30 minutes",
    sentence="30 episodes; each begins with 1 to 30 frames without action and ends with the game or after 108,000 "
    "frames (30 minutes).",
    source="PAAC (Clemente et al. 2017), section 5 and table 1: 30 runs, 1 to 30 no-ops; the cap is that of Gorila's "
    "human starts, because PAAC states none",
    opening="no-ops",
    episodes=30,
    noops=(1, 30),
    cap_frames=108_000,
)


NO_OP_5MIN = EvaluationProtocol(
    name="no-op-5min",
    title="No-op starts, 5 minutes",
    sentence="30 episodes; each begins with 1 to 30 frames without action and ends with the game or after 18,000 "
    "frames (5 minutes).",
    source="Gorila (Nair et al. 2015), section 5.2: null op starts; the protocol of DQN (Mnih et al. 2015)",
    opening="no-ops",
    episodes=30,
    noops=(1, 30),
    cap_frames=18_000,
)


HUMAN_STARTS = EvaluationProtocol(
    name="human-starts",
    title="Human starts",
    sentence="One episode from each of 100 points of a person's play. Each ends with the game, or 108,000 frames (30 "
    "minutes) after the person began. Only the agent's own points count.",
    source="Gorila (Nair et al. 2015), section 5.2: human starts; A3C (Mnih et al. 2016), table 1",
    opening="starts",
    episodes=100,
    cap_frames=108_000,
    own_points_only=True,
    starts_from="human",
)


AGENT_STARTS = EvaluationProtocol(
    name="agent-starts",
    title="Agent starts",
    sentence="One episode from each of 100 points of a trained agent's play. Each ends with the game, or 108,000 "
    "frames (30 minutes) after that play began. Only the evaluated agent's own points count. Scores are comparable "
    "only for the same start set, and never with human starts.",
    source="Arcadia, based on Gorila (Nair et al. 2015), section 5.2",
    opening="starts",
    episodes=100,
    cap_frames=108_000,
    own_points_only=True,
    starts_from="agent",
)


STICKY_30MIN = EvaluationProtocol(
    name="sticky-30min",
    title="Sticky actions, 30 minutes",
    sentence="100 episodes. In each frame, the emulator repeats the action of the previous frame with a probability "
    "of 0.25. The agent begins at the reset and chooses among all 18 actions. An episode ends with the game or after "
    "108,000 frames (30 minutes); a lost life does not end it.",
    source="Machado et al. 2018: sticky actions with a probability of 0.25, all actions, no signal of lost lives; "
    "Arcadia chose the number of episodes, and the cap is that of no-op-30min",
    opening="no-ops",
    episodes=100,
    noops=(0, 0),
    cap_frames=108_000,
    repeat_action_probability=0.25,
    full_action_set=True,
    normalized_by="no-op-30min",
)
