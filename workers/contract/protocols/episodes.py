"""Plain episodes, for environments other than Atari games."""

from workers.contract.protocols.protocol import EvaluationProtocol

EPISODES = EvaluationProtocol(
    name="episodes",
    title="Episodes",
    sentence="30 episodes from the environment's own start to its own end. For environments other than Atari games.",
    source="Arcadia; the papers define protocols only for Atari games",
    opening="plain",
    episodes=30,
)
