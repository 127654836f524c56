"""Settings that may fix what a rule found. A method gets only fields that it has."""

from collections.abc import Callable, Mapping
from typing import Any

from backend.configuration import configs
from backend.errors import Invalid
from backend.marks.schemas import RuleName
from workers.contract.config import RunConfig
from workers.contract.presets import PRESETS

Changes = dict[str, Any]

SMALLER_RATE = 3.0
# Another learning rate is only suggested if it differs by this factor.
DIFFERENT_RATE = 2.0
# A rate that is this much larger than in a preset is the cause of a collapse.
ABSURD_RATE = 10.0
MORE_ENTROPY, USUAL_ENTROPY_COST, MAX_ENTROPY_COST = 3.0, 0.01, 10.0
USUAL_VALUE_COST, LOW_VALUE_COST = 0.5, 0.05
USUAL_GRADIENT_LIMIT, LOOSE_LIMIT = 0.5, 10.0
SHORT_QUEUE = 2
# ε reaches its final value after this share of the steps.
ANNEALED_SHARE = 0.1
LOW_EPSILON = 0.1


def suggest(rule: RuleName, config: RunConfig) -> Changes:
    """Return settings that may fix what the rule found, or nothing."""
    suggest_settings = _FIXES.get(rule)
    if suggest_settings is None:
        return {}
    current = configs.to_document(config)
    changes = {
        field: value
        for field, value in suggest_settings(config).items()
        if field in current and value != current[field]
    }
    try:
        configs.override(current, changes)
    except Invalid:
        return {}
    return changes


def _usual(config: RunConfig, field: str) -> Any:
    """Return the value in a preset of the same method, for the same environment if possible, or None."""
    presets = [preset.config for preset in PRESETS.values() if preset.config.algorithm == config.algorithm]
    presets.sort(key=lambda preset: (preset.env != config.env, preset.environment.family != config.environment.family))
    return getattr(presets[0], field, None) if presets else None


def _smaller_rate(config: RunConfig) -> Changes:
    usual = _usual(config, "learning_rate")
    is_smaller = usual is not None and usual * DIFFERENT_RATE <= config.learning_rate
    return {"learning_rate": usual if is_smaller else _rounded(config.learning_rate / SMALLER_RATE)}


def _usual_rate(config: RunConfig) -> Changes:
    """Return the learning rate of a preset if it differs clearly, or else a smaller one."""
    usual = _usual(config, "learning_rate")
    if usual is None or 1 / DIFFERENT_RATE < usual / config.learning_rate < DIFFERENT_RATE:
        return _smaller_rate(config)
    return {"learning_rate": usual}


def _more_entropy(config: RunConfig) -> Changes:
    usual_rate = _usual(config, "learning_rate")
    if usual_rate is not None and config.learning_rate >= ABSURD_RATE * usual_rate:
        return {"learning_rate": usual_rate}
    cost = getattr(config, "entropy_cost", 0.0)
    usual = _usual(config, "entropy_cost") or USUAL_ENTROPY_COST
    return {"entropy_cost": _rounded(min(MAX_ENTROPY_COST, max(MORE_ENTROPY * cost, usual)))}


def _better_values(config: RunConfig) -> Changes:
    cost = getattr(config, "value_cost", None)
    if cost is None or cost >= LOW_VALUE_COST:
        return _usual_rate(config)
    return {"value_cost": max(_usual(config, "value_cost") or 0.0, USUAL_VALUE_COST)}


def _open_layers(config: RunConfig) -> Changes:
    return {**_smaller_rate(config), "centered_inputs": True}


def _smaller_gradients(config: RunConfig) -> Changes:
    usual = _usual(config, "max_grad_norm") or USUAL_GRADIENT_LIMIT
    return {"max_grad_norm": usual} if config.max_grad_norm >= LOOSE_LIMIT * usual else _smaller_rate(config)


def _less_lag(config: RunConfig) -> Changes:
    queue = getattr(config, "training_queue_rollouts", SHORT_QUEUE)
    if queue != SHORT_QUEUE:
        return {"training_queue_rollouts": SHORT_QUEUE}
    return {field: max(1, getattr(config, field, 1) // 2) for field in ("num_agents", "num_actors")}


def _later_decay(config: RunConfig) -> Changes:
    return {"learning_rate_decay": "late" if config.learning_rate_decay == "linear" else "none"}


def _other_clipping(config: RunConfig) -> Changes:
    return {"clip_rewards": not config.clip_rewards}


def _faster_annealing(config: RunConfig) -> Changes:
    """Return a shorter annealing, or a lower final ε if the annealing is short already."""
    frames = int(ANNEALED_SHARE * config.total_steps * config.environment.frames_per_step)
    updates = int(ANNEALED_SHARE * config.total_steps / config.t_max)
    for field, limit in (("epsilon_anneal_frames", frames), ("epsilon_anneal_updates", updates)):
        if getattr(config, field, 0) > limit:
            return {field: limit}
    return {"final_epsilons": [LOW_EPSILON], "final_epsilon_probabilities": [1.0], "final_epsilon": LOW_EPSILON}


def _rounded(value: float) -> float:
    return float(f"{value:.2g}")


_FIXES: Mapping[RuleName, Callable[[RunConfig], Changes]] = {
    "entropy_collapsed": _more_entropy,
    "return_collapsed": _smaller_rate,
    "loss_exploded": _smaller_rate,
    "not_a_number": _smaller_rate,
    "return_stalled": _usual_rate,
    "value_uninformative": _better_values,
    "layer_dead": _open_layers,
    "gradient_exploded": _smaller_gradients,
    "policy_lag": _less_lag,
    "learning_rate_spent": _later_decay,
    "reward_scale": _other_clipping,
    "epsilon_stuck": _faster_annealing,
}
