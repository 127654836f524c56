"""A configuration with which GA3C learns in seconds."""

from arcadia_workers.contract.config import Ga3cConfig

LEARNING = Ga3cConfig(
    env="Arcadia/Catch-v0",
    t_max=4,
    clip_rewards=False,
    num_agents=4,
    num_predictors=1,
    num_trainers=1,
    min_training_batch=16,
    learning_rate=0.002,
    entropy_cost=0.03,
    rmsprop_epsilon=1e-5,
    total_steps=1_000_000,
)
