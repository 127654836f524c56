"""Plain episodes, for environments that are no Atari games."""

from workers.contract.protocols.protocol import EvaluationProtocol

EPISODES = EvaluationProtocol(
    name="episodes",
    title="Episodes",
    sentence="30 episodes from the environment's own beginnings to its own ends; for what is no Atari game.",
    source="Ours; the papers evaluate Atari games alone by a protocol",
    opening="plain",
    episodes=30,
)
