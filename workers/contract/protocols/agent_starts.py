"""Starts from a trained agent's play: no paper has them, and they are not human starts."""

from workers.contract.protocols.protocol import EvaluationProtocol

AGENT_STARTS = EvaluationProtocol(
    name="agent-starts",
    title="Agent starts",
    sentence="As human starts, but from 100 points of a trained agent's play. A score of one set compares only with "
    "other scores of the same set, never with human starts.",
    source="Ours, after Gorila (Nair et al. 2015), section 5.2",
    opening="starts",
    episodes=100,
    cap_frames=108_000,
    own_points_only=True,
    starts_from="agent",
)
