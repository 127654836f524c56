"""No-op starts with a cap of half an hour."""

from workers.contract.protocols.protocol import EvaluationProtocol

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
