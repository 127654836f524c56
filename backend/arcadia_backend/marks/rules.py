"""Registry of the rules that find anomalies, with their titles, explanations and causes."""

from collections.abc import Iterator
from dataclasses import dataclass

from arcadia_backend.marks import anomalies
from arcadia_backend.marks.signals import Anomaly, AnomalyRule, FindAnomalies, Signals
from arcadia_workers.contract.metrics import DEAD_UNITS, EPISODE_LENGTH, EPISODE_RETURN, STEPS_PER_SECOND

MAX_ANOMALIES_PER_RULE = 5


@dataclass(frozen=True)
class Rule:
    """A rule, and the metrics that it needs."""

    info: AnomalyRule
    find: FindAnomalies
    needs: tuple[str, ...] = ()
    # True to pass values that are NaN or infinite.
    raw: bool = False


RULES: tuple[Rule, ...] = (
    Rule(
        AnomalyRule(
            name="entropy_collapsed",
            title="Entropy collapsed",
            explanation=f"The policy's entropy stays below {anomalies.COLLAPSED_ENTROPY:.0%} of its peak, and the "
            "environment is not solved.",
            cause="The policy became almost deterministic before it was good, so the agent no longer explores.",
        ),
        anomalies.find_entropy_collapse,
        (anomalies.ENTROPY,),
    ),
    Rule(
        AnomalyRule(
            name="return_collapsed",
            title="Return collapsed",
            explanation="The median return loses more than half of its gain and does not recover.",
            cause="An update changed the policy too much, and the agent lost what it had learned.",
        ),
        anomalies.find_return_collapse,
        (EPISODE_RETURN,),
    ),
    Rule(
        AnomalyRule(
            name="loss_exploded",
            title="Value loss exploded",
            explanation=f"The value loss is more than {anomalies.EXPLODED_LOSS:.0f} times as large as ever before in "
            f"most of {anomalies.LOSS_WINDOW} samples, and larger returns do not explain it.",
            cause="Updates are too large: the values moved away from the returns.",
        ),
        anomalies.find_exploded_loss,
        (anomalies.VALUE_LOSS,),
    ),
    Rule(
        AnomalyRule(
            name="not_a_number",
            title="Diverged",
            explanation="A loss, the entropy or the gradient norm is not finite.",
            cause="Updates are too large: the weights have diverged.",
        ),
        anomalies.find_not_a_number,
        raw=True,
    ),
    Rule(
        AnomalyRule(
            name="no_episode",
            title="No episode",
            explanation=f"No episode ends for {anomalies.NO_EPISODE_SECONDS / 60:.0f} minutes of training, and "
            f"more than {anomalies.USUAL_GAPS} usual gaps and {anomalies.LONG_GAPS} long ones before and after.",
        ),
        anomalies.find_missing_episodes,
        (EPISODE_RETURN,),
    ),
    Rule(
        AnomalyRule(
            name="speed_halved",
            title="Speed halved",
            explanation="After the first minute, the speed falls to less than half for a while, and below nine of ten "
            "earlier speeds.",
        ),
        anomalies.find_halved_speed,
        (STEPS_PER_SECOND,),
    ),
    Rule(
        AnomalyRule(
            name="return_stalled",
            title="Return stalled",
            explanation=f"The return has not improved after {anomalies.STALLED_SHARE:.0%} of the steps.",
            cause="The agent learns nothing. Most often the learning rate does not suit the environment.",
        ),
        anomalies.find_stalled_return,
        (EPISODE_RETURN,),
    ),
    Rule(
        AnomalyRule(
            name="value_uninformative",
            title="Value explains nothing",
            explanation=f"The values explain less than {anomalies.UNEXPLAINED_VARIANCE:.0%} of the variance of the "
            "returns, and the return does not improve.",
            cause="The values are almost the same in every state, so advantages are noise.",
        ),
        anomalies.find_uninformative_value,
    ),
    Rule(
        AnomalyRule(
            name="layer_dead",
            title="Layer is dead",
            explanation=f"At least {anomalies.DEAD_SHARE:.0%} of a layer's units are inactive in every recent state.",
            cause="Large updates closed all units of the layer. No later update can open them again.",
        ),
        anomalies.find_dead_layers,
    ),
    Rule(
        AnomalyRule(
            name="gradient_exploded",
            title="Gradients exploded",
            explanation=f"The gradient norm stays above {anomalies.EXPLODED_GRADIENT:,.0f} times its first values and "
            f"{anomalies.EXPLODED_LIMITS:.0f} times its limit.",
            cause="The losses grow without bound, because updates are too large.",
        ),
        anomalies.find_exploded_gradients,
        (anomalies.GRADIENT_NORM,),
    ),
    Rule(
        AnomalyRule(
            name="policy_lag",
            title="Policy lags",
            explanation=f"Experiences are more than {anomalies.MIN_LAG:.0f} updates old, and "
            f"{anomalies.USUAL_LAGS:.0f} times as old as usual.",
            cause="Experiences wait too long before they are learned from, so gradients belong to an old policy.",
        ),
        anomalies.find_policy_lag,
    ),
    Rule(
        AnomalyRule(
            name="learning_rate_spent",
            title="Learning rate at zero",
            explanation="The learning rate decays to zero while the return still rises.",
            cause="Learning stopped because the learning rate ran out, not because the agent was done.",
        ),
        anomalies.find_spent_learning_rate,
        (anomalies.LEARNING_RATE, EPISODE_RETURN),
    ),
    Rule(
        AnomalyRule(
            name="throughput_lost",
            title="Throughput lost",
            explanation=f"The speed stays below {anomalies.LOST_SPEED:.0%} of its usual value, after the first minute.",
            cause="Other programs use the host, or it has too little memory. The System tab shows its use.",
        ),
        anomalies.find_lost_throughput,
        (STEPS_PER_SECOND,),
    ),
    Rule(
        AnomalyRule(
            name="reward_scale",
            title="Reward scale",
            explanation=f"Clipped rewards are larger than {anomalies.CLIPPED_REWARD:g} per step on average, except on "
            f"Atari, or unclipped ones larger than {anomalies.LARGE_REWARD:g}.",
            cause="The scale of the rewards does not fit the setting that clips them.",
        ),
        anomalies.find_reward_scale,
        (EPISODE_RETURN, EPISODE_LENGTH),
    ),
    Rule(
        AnomalyRule(
            name="epsilon_stuck",
            title="ε is stuck",
            explanation=f"More than {anomalies.STUCK_EPSILON:.0%} of the actions are random after "
            f"{anomalies.STALLED_SHARE:.0%} of the steps.",
            cause="ε falls too slowly for the length of this run, so the agent acts at random.",
        ),
        anomalies.find_stuck_epsilon,
        (anomalies.EPSILON,),
    ),
)

# Metrics that the rules read.
METRICS = (
    EPISODE_RETURN,
    EPISODE_LENGTH,
    STEPS_PER_SECOND,
    *anomalies.LEARNING,
    anomalies.EXPLAINED_VARIANCE,
    anomalies.VALUE_SPREAD,
    anomalies.LEARNING_RATE,
    anomalies.EPSILON,
    anomalies.POLICY_LAG,
    anomalies.GA3C_LAG,
    anomalies.GA3C_BATCH,
    *(metric.name for metric in DEAD_UNITS),
)


def find_anomalies(signals: Signals) -> Iterator[Anomaly]:
    """Return the anomalies of every rule that has enough samples of its metrics."""
    finite = signals.finite()
    for rule in RULES:
        if finite.has(*rule.needs):
            yield from [*rule.find(signals if rule.raw else finite)][:MAX_ANOMALIES_PER_RULE]
