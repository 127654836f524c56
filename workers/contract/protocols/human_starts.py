"""Starts from a person's play (Nair et al. 2015, section 5.2)."""

from workers.contract.protocols.protocol import EvaluationProtocol

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
