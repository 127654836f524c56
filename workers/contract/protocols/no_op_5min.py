"""Null op starts with a cap of five minutes (Nair et al. 2015, section 5.2)."""

from workers.contract.protocols.protocol import EvaluationProtocol

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
