"""Metrics of simulated runs that learn, and faults that can be injected into them.

Each kind of run has another curve of returns. The other metrics follow it with noise of random size: bursts, heavy
tails, pauses and other load. Half of the runs are finished, and the others are observed at a random point.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log

import numpy as np

from arcadia_backend.marks import anomalies as rules
from arcadia_backend.marks.anomalies import ENTROPY, GRADIENT_NORM, POLICY_LOSS, VALUE_LOSS
from arcadia_backend.marks.signals import RuleName, Samples, Signals
from arcadia_workers.contract.inference.means import Floats
from arcadia_workers.contract.metrics import DEAD_UNITS, EPISODE_LENGTH, EPISODE_RETURN, STEPS_PER_SECOND

Random = np.random.Generator
TOTAL = 1_000_000
CARTPOLE = "CartPole-v1"
LAYER = DEAD_UNITS[3].name
# Learning rates, ε and the limit of the gradient that methods of the papers use.
FINAL_EPSILONS, FINAL_EPSILON_CHANCES = (0.1, 0.01, 0.5), (0.4, 0.3, 0.3)


@dataclass(frozen=True)
class Kind:
    """How runs learn: from skill 0 to 1 over the run, and with these returns."""

    env: str
    returns: Callable[[Random, Floats], Floats]
    skill: Callable[[Random, Floats], Floats] = lambda random, progress: rise(random, progress)
    clips_rewards: bool = True
    # Whether only wins are rewarded, so that there is nothing to learn from until the first one.
    has_rare_rewards: bool = False


def rise(random: Random, progress: Floats) -> Floats:
    """Return a skill that grows in the first part and then stays."""
    at, width = random.uniform(0.1, 0.3), random.uniform(0.02, 0.06)
    return np.asarray(1 / (1 + np.exp((at - progress) / width)))


def even(_random: Random, progress: Floats) -> Floats:
    """Return a skill that grows evenly until the end."""
    return progress


def interrupted(random: Random, progress: Floats) -> Floats:
    """Return a skill that is lost for a short time, and recovers."""
    begin = random.uniform(0.4, 0.8)
    is_lost = (progress > begin) & (progress < begin + random.uniform(0.01, 0.04))
    return np.asarray(rise(random, progress) * np.where(is_lost, 0.4, 1.0))


def sudden(random: Random, progress: Floats) -> Floats:
    """Return a skill that grows a little, and then ten times as much at once."""
    return np.asarray(0.1 * np.minimum(1, progress / 0.1) + 0.9 * (progress > random.uniform(0.25, 0.4)))


def autocorrelated_noise(random: Random, count: int, correlation: float) -> Floats:
    """Return standard normal AR(1) noise."""
    reach = 150
    noise = random.normal(size=count + reach - 1)
    return np.convolve(noise, (1 - correlation**2) ** 0.5 * correlation ** np.arange(reach), mode="valid")


def bursts(random: Random, count: int) -> Floats:
    """Return positive factors with tails that may be heavy, and may be autocorrelated."""
    return np.asarray(np.exp(random.uniform(0.2, 1.5) * autocorrelated_noise(random, count, random.uniform(0, 0.9))))


def _poles(random: Random, skill: Floats) -> Floats:
    lengths = 20 * 30**skill * random.lognormal(0, 0.03 + 0.3 * (1 - skill))
    return np.asarray(np.minimum(500, np.where(random.random(len(skill)) < 0.03, 0.7 * lengths, lengths)).round())


KINDS = {
    "solves the task": Kind(CARTPOLE, _poles, clips_rewards=False),
    "learns slowly": Kind(
        "ALE/Pong-v5",
        lambda random, skill: np.asarray(random.normal(12 * skill - 20.5, 0.7 + 2 * skill)).clip(-21, 21),
        even,
    ),
    "heavy tails": Kind(
        "ALE/Qbert-v5", lambda random, skill: (100 + 900 * skill) * random.lognormal(0, 1.5, len(skill))
    ),
    "autocorrelated": Kind(
        "ALE/Breakout-v5",
        lambda random, skill: np.maximum(0, 100 * skill + 20 * autocorrelated_noise(random, len(skill), 0.95)),
    ),
    "rare wins": Kind(
        "ALE/MontezumaRevenge-v5",
        lambda random, skill: np.where(random.random(len(skill)) < 0.5 * skill, 400.0, 0.0),
        has_rare_rewards=True,
    ),
    "noisy and bounded": Kind(
        "ALE/Boxing-v5", lambda random, skill: np.clip(random.normal(60 * skill, 25), -100, 100).round()
    ),
    "sudden success": Kind(
        "Hopper-v5", lambda random, skill: (10 + 2000 * skill) * random.lognormal(0, 0.3, len(skill)), sudden, False
    ),
    "short setbacks": Kind("ALE/Seaquest-v5", lambda random, skill: random.normal(500 * skill + 50, 50), interrupted),
    "large returns": Kind(
        "HalfCheetah-v5", lambda random, skill: random.normal(5_000 * skill - 200, 100 + 500 * skill), rise, False
    ),
    "costs": Kind(
        "MountainCar-v0", lambda random, skill: np.maximum(-200, random.normal(100 * skill - 210, 12)), rise, False
    ),
}


def simulate(random: Random, kind: Kind, share: float | None = None) -> Signals:
    """Return the metrics of a run up to a share of its steps, by default a random one."""
    skill_seed = int(random.integers(2**32))

    def skill_at(progress: Floats) -> Floats:
        return kind.skill(np.random.default_rng(skill_seed), progress)

    seconds = float(np.exp(random.uniform(log(120), log(20_000))))
    episodes, count = int(np.exp(random.uniform(log(60), log(2_000)))), int(random.integers(80, 600))
    expected = skill_at(np.arange(1, episodes + 1) / episodes)
    lengths = 20 * 25**expected if kind.env == CARTPOLE else 500 + random.uniform(0, 5_000) * expected
    ends = np.cumsum(lengths * random.exponential(size=episodes))
    progress, times = ends / ends[-1], np.arange(1, count + 1) / count
    returns = kind.returns(random, skill_at(progress))
    config, values = _learning(random, kind, times, skill_at(times), (progress, returns))
    of_episodes = {EPISODE_RETURN: returns, EPISODE_LENGTH: returns if kind.env == CARTPOLE else lengths}
    series = {name: _samples(progress, seconds, each) for name, each in of_episodes.items()}
    series |= {name: _samples(times, seconds, each) for name, each in values.items()}
    if share is None:
        share = 1.0 if random.random() < 0.5 else random.uniform(0.2, 1.0)
    return Signals({name: _until(samples, share) for name, samples in series.items()}, config)


def _learning(
    random: Random, kind: Kind, times: Floats, skill: Floats, episodes: tuple[Floats, Floats]
) -> tuple[dict[str, float | str | bool], dict[str, Floats]]:
    """Return the settings of a run, and the values of its other metrics."""
    count, actions, agents = len(times), random.integers(2, 19), int(random.choice([1, 2, 4, 8, 16, 32]))
    limit = random.choice([0.0, 0.5, 5.0, 40.0])
    # Only a policy that solves its task may become deterministic.
    floor = 10 ** random.uniform(-4, -0.3) if kind.env == CARTPOLE else random.uniform(0.03, 0.6)
    entropy = np.log(actions) * (floor + (1 - floor) * (1 - skill)) * random.lognormal(0, random.uniform(0, 0.2), count)
    norms = bursts(random, count) * (1 + random.choice([0, 10, 100]) * skill)
    batch, steps = random.integers(16, 128), int(random.choice([5, 16, 20]))
    finals = random.choice(FINAL_EPSILONS, size=agents, p=FINAL_EPSILON_CHANCES)
    annealed = np.minimum(1, times / random.uniform(0.05, 0.4))
    units, rate = int(random.integers(16, 257)), 10 ** random.uniform(-5, -2)
    decay = random.choice([0, 1, 3]) if kind.skill is not even else 0
    values = {
        ENTROPY: entropy,
        GRADIENT_NORM: norms,
        POLICY_LOSS: random.normal(0, 1, count) * bursts(random, count),
        VALUE_LOSS: bursts(random, count) * _errors(random, kind, times, skill, episodes),
        STEPS_PER_SECOND: _speed(random, times),
        rules.LEARNING_RATE: rate * (1 - times) ** decay,
        rules.EPSILON: 1 + annealed * (finals.mean() - 1),
        rules.VALUE_SPREAD: bursts(random, count) * (0.1 + skill),
        LAYER: random.binomial(units, random.uniform(0, 0.9), count) / units,
    }
    if random.random() < 0.5:
        values[rules.POLICY_LAG] = random.gamma(4, max(agents - 1, 0.1) / 4, count)
    else:
        values[rules.GA3C_LAG] = random.gamma(4, agents * steps / batch / 4, count)
        values[rules.GA3C_BATCH] = random.normal(batch, 1, count)
    if random.random() < 0.5:
        values[rules.EXPLAINED_VARIANCE] = np.minimum(1, random.normal(random.uniform(0.1, 0.9) * skill, 0.2))
    settings = {"env": kind.env, "total_steps": TOTAL, "clip_rewards": kind.clips_rewards, "t_max": steps}
    return {**settings, "num_agents": agents, **({"max_grad_norm": limit} if limit else {})}, values


def _errors(random: Random, kind: Kind, times: Floats, skill: Floats, episodes: tuple[Floats, Floats]) -> Floats:
    """Return the usual value loss, which is the square of what the values are about."""
    progress, returns = episodes
    if kind.has_rare_rewards:
        # Rewards are learned from before their episode ends.
        wins = np.histogram(progress[returns > 0] - random.uniform(0, 0.02), [0, *times])[0]
        return np.asarray(1e-6 + 0.05 * np.minimum(1, wins))
    if kind.clips_rewards:
        return np.asarray(0.02 + skill)
    return np.asarray((0.05 + skill) ** 2 * np.abs(returns).max() ** 2 / 100)


def _speed(random: Random, times: Floats) -> Floats:
    """Return a speed with noise, pauses, other load for a while, and a drift as the agent gets better."""
    count = len(times)
    noise = random.lognormal(0, random.uniform(0.02, 0.3), count)
    begin, length, load = random.uniform(0, 1), random.uniform(0.02, 0.3), random.uniform(0.6, 1)
    loaded = np.where((times > begin) & (times < begin + length), load, 1.0)
    paused = np.where(random.random(count) < 0.03, random.uniform(0.05, 0.5, count), 1.0)
    drift = 1 + random.uniform(-0.4, 0.5) * times
    return np.asarray(1_000 * noise * loaded * paused * drift)


def _samples(progress: Floats, seconds: float, values: Floats) -> Samples:
    return Samples((TOTAL * progress).astype(np.int64), seconds * progress, values)


def _until(samples: Samples, share: float) -> Samples:
    kept = int(np.searchsorted(samples.steps, share * TOTAL, side="right"))
    return Samples(samples.steps[:kept], samples.seconds[:kept], samples.values[:kept])


@dataclass(frozen=True)
class Fault:
    """A change of a healthy run that a rule must find, and the kinds of runs that can have it."""

    inject: Callable[[Random, Signals], Signals]
    kinds: Sequence[str] = tuple(KINDS)
    # Another course of the skill.
    skill: Callable[[Random, Floats], Floats] | None = None

    def simulate(self, random: Random, name: str) -> Signals:
        """Return the metrics of a finished run of this kind with the fault."""
        kind = KINDS[name]
        return self.inject(random, simulate(random, replace(kind, skill=self.skill) if self.skill else kind, 1.0))


def _from(random: Random, signals: Signals, metric: str, change: Callable[[Floats], Floats]) -> Signals:
    """Return signals in which a metric changes in the last part and stays so."""
    samples = signals[metric]
    at = int(random.uniform(0.65, 0.85) * len(samples.values))
    values = np.concatenate([samples.values[:at], change(samples.values[at:])])
    return _with(signals, {metric: values})


def _with(signals: Signals, values: Mapping[str, Floats], **settings: bool) -> Signals:
    """Return signals with other values of some metrics, and other settings."""
    series = {name: replace(signals[name], values=each) for name, each in values.items()}
    return replace(signals, series={**signals.series, **series}, config={**signals.config, **settings})


def _explode(random: Random, signals: Signals, metric: str, least: float) -> Signals:
    factor = least * 10 ** random.uniform(0.5, 3) * float(signals[metric].values.max())
    return _from(random, signals, metric, lambda values: values / np.median(values) * factor)


def _stop_episodes(random: Random, signals: Signals) -> Signals:
    """Let no episode end for an hour."""
    samples = signals[EPISODE_RETURN]
    is_later = np.arange(len(samples.values)) > random.uniform(0.1, 0.9) * len(samples.values)
    waited = replace(samples, seconds=samples.seconds + 3_600 * is_later)
    return replace(signals, series={**signals.series, EPISODE_RETURN: waited})


def _explain_nothing(random: Random, signals: Signals) -> Signals:
    spread = signals[rules.VALUE_SPREAD].values * 0.01 * signals[VALUE_LOSS].values.min() ** 0.5
    explained = {rules.EXPLAINED_VARIANCE: random.normal(-0.02, 0.02, len(spread))}
    return _with(signals, {rules.VALUE_SPREAD: spread, **(explained if signals.has(*explained) else {})})


def _delay(random: Random, signals: Signals) -> Signals:
    """Let experiences wait eight times as long as usual."""
    metric = next(name for name in (rules.GA3C_LAG, rules.POLICY_LAG) if name in signals.series)
    return _from(random, signals, metric, lambda lags: 8 * lags + 40)


def _collapse(random: Random, progress: Floats) -> Floats:
    return np.asarray(rise(random, progress) * (progress < random.uniform(0.6, 0.85)))


def _spend(_random: Random, signals: Signals) -> Signals:
    rate = signals[rules.LEARNING_RATE]
    return _with(signals, {rules.LEARNING_RATE: 10.0 ** (-5 * rate.steps / TOTAL)})


def _scale(random: Random, signals: Signals) -> Signals:
    """Make rewards large, and choose the wrong setting for them."""
    lengths = np.abs(signals[EPISODE_RETURN].values) / (random.uniform(15, 100)) + 1e-3
    return _with(signals, {EPISODE_LENGTH: lengths}, clip_rewards=False)


FAULTS: dict[RuleName, Fault] = {
    "entropy_collapsed": Fault(
        lambda random, run: _from(random, run, ENTROPY, lambda values: values * 10 ** random.uniform(-4, -2.5)),
        [name for name in KINDS if name not in ("solves the task", "costs")],
    ),
    "return_collapsed": Fault(lambda _random, run: run, skill=_collapse),
    "loss_exploded": Fault(lambda random, run: _explode(random, run, VALUE_LOSS, 100)),
    "not_a_number": Fault(lambda random, run: _from(random, run, GRADIENT_NORM, lambda values: values * np.nan)),
    "no_episode": Fault(_stop_episodes),
    "speed_halved": Fault(
        lambda random, run: _from(random, run, STEPS_PER_SECOND, lambda values: values * random.uniform(0.1, 0.4))
    ),
    "return_stalled": Fault(lambda _random, run: run, skill=lambda _random, progress: 0 * progress),
    "value_uninformative": Fault(_explain_nothing, skill=lambda _random, progress: 0 * progress),
    "layer_dead": Fault(lambda random, run: _from(random, run, LAYER, np.ones_like)),
    "gradient_exploded": Fault(lambda random, run: _explode(random, run, GRADIENT_NORM, 1_000)),
    "policy_lag": Fault(_delay),
    "learning_rate_spent": Fault(_spend, [name for name in KINDS if name != "solves the task"], even),
    "throughput_lost": Fault(
        lambda random, run: _from(random, run, STEPS_PER_SECOND, lambda values: values * random.uniform(0.05, 0.2))
    ),
    "reward_scale": Fault(_scale),
    "epsilon_stuck": Fault(
        lambda random, run: _with(run, {rules.EPSILON: 1 - random.uniform(0, 0.3) * run[rules.EPSILON].steps / TOTAL})
    ),
}
