"""Starts from a trained agent's play. No paper uses them, and their scores do not compare with human starts."""

from workers.contract.protocols.protocol import EvaluationProtocol

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
