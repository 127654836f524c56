"""Starts from a trained agent's play: no paper has them, and they are not human starts."""

from workers.contract.protocols.protocol import EvaluationProtocol

AGENT_STARTS = EvaluationProtocol(
    name="agent-starts",
    title="Agent starts",
    sentence="One episode from each of 100 points of a trained agent's play, to the end of the game or until 108,000 "
    "frames (30 minutes) have passed since that play began; only the agent's own points count. A score compares only "
    "with others from the same set of points, never with human starts.",
    source="Ours, after Gorila (Nair et al. 2015), section 5.2",
    opening="starts",
    episodes=100,
    cap_frames=108_000,
    own_points_only=True,
    starts_from="agent",
)
