"""Environments of our own, made known to gymnasium by importing this package."""

import gymnasium

WORLDS = {
    "Arcadia/Identity-v0": "workers.trainer.worlds.identity:Identity",
    "Arcadia/Catch-v0": "workers.trainer.worlds.catch:Catch",
    "Arcadia/Recall-v0": "workers.trainer.worlds.recall:Recall",
    "Arcadia/Target-v0": "workers.trainer.worlds.target:Target",
}

for name, place in WORLDS.items():
    gymnasium.register(name, entry_point=place)
