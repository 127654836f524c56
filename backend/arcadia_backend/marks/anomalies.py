"""Rules that find events in the metrics of a run: collapses, jumps, NaN and pauses, and faults of the training."""

from collections.abc import Iterator

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from arcadia_backend.marks.signals import (
    FEWEST_SAMPLES,
    PARTS,
    Anomaly,
    Samples,
    Signals,
    anomaly_at,
    ends,
    start_of_lasting,
)
from arcadia_backend.metrics.points import Floats, Ints
from arcadia_workers.contract.environment_families import ATARI
from arcadia_workers.contract.inference.means import (
    critical_rank_z,
    error_factor,
    middle_mean,
    middle_ranks,
    rank_sum_z,
    rank_trend_z,
    standard_errors_apart,
)
from arcadia_workers.contract.metrics import DEAD_UNITS, EPISODE_LENGTH, EPISODE_RETURN, STEPS_PER_SECOND

ENTROPY, POLICY_LOSS, VALUE_LOSS, GRADIENT_NORM = (
    "train/entropy",
    "train/policy_loss",
    "train/value_loss",
    "train/grad_norm",
)
LEARNING = (POLICY_LOSS, VALUE_LOSS, ENTROPY, GRADIENT_NORM)

COLLAPSED_ENTROPY = 0.02
COLLAPSED_RETURN = 0.5
# Returns in the shortest part of a run, and the number of parts of a long run.
RETURN_WINDOW, RETURN_PARTS = 8, 10
ALPHA = 0.025
# An explosion lasts for most of this many samples. At the end of a run, fewer are enough.
EXPLODED_LOSS, LOSS_WINDOW, SHORTEST_EXPLOSION = 100.0, 5, 3
# A gap without an episode is compared with the usual and the long ones of those before and after it.
NO_EPISODE_SECONDS, USUAL_GAPS, LONG_GAPS, NEAR_GAPS, FEWEST_GAPS = 300.0, 10, 5, 50, 5
# Samples and seconds in which the speed is compared.
SPEED_BEFORE, SPEED_AFTER, SLOW_SECONDS = 20, 10, 30.0
HALVED, RECOVERED = 0.5, 0.75


def find_entropy_collapse(signals: Signals) -> Iterator[Anomaly]:
    """Find where the policy became almost deterministic for the rest of the run, unless it solves the environment."""
    samples = signals[ENTROPY].merged()
    if (samples.values < 0).any():
        return  # the entropy of a density has no fixed scale
    if EPISODE_RETURN in signals.series and signals.is_solved(ends(signals[EPISODE_RETURN].values)[1]):
        return
    peak = float(samples.values.max())
    if (at := start_of_lasting(samples.values < COLLAPSED_ENTROPY * peak)) is not None:
        detail = (
            f"It fell from {peak:.3g} to less than {COLLAPSED_ENTROPY:.0%} of that, so the agent hardly explores any "
            "more. A larger entropy weight or a smaller learning rate prevents this."
        )
        yield anomaly_at(ENTROPY, samples, at, "entropy_collapsed", "Entropy collapsed", detail)


def find_return_collapse(signals: Signals) -> Iterator[Anomaly]:
    """Find where the agent lost most of what it had learned, and did not regain it.

    The best part of the run must rank above its first and its last part. Ranks and middle means count, not a lucky
    episode. The level allows for choosing the best of many parts.
    """
    samples = signals[EPISODE_RETURN].merged()
    values = samples.values
    width = max(RETURN_WINDOW, len(values) // RETURN_PARTS)
    best = int(np.convolve(middle_ranks(values), np.ones(width), mode="valid").argmax())
    first, peak, last = values[:width], values[best : best + width], values[-width:]
    before, at_best, at_end = (float(middle_mean(part)) for part in (first, peak, last))
    limit = before + COLLAPSED_RETURN * (at_best - before)
    gap = at_best - max(before, at_end)
    level = critical_rank_z(values, [first, peak, last], gap, ALPHA * width / (4 * len(values)))
    if at_end >= limit or min(rank_sum_z(peak, first), rank_sum_z(peak, last)) <= level:
        return
    recent = middle_mean(sliding_window_view(values, RETURN_WINDOW))
    if (at := start_of_lasting((np.arange(len(recent)) > best) & (recent < limit))) is not None:
        detail = (
            f"The usual return fell from {at_best:.4g} to less than {limit:.4g} and stayed there. Fork the run from "
            "an earlier checkpoint with a smaller learning rate."
        )
        at += RETURN_WINDOW - 1
        yield anomaly_at(EPISODE_RETURN, samples, at, "return_collapsed", "Return collapsed", detail)


def find_exploded_loss(signals: Signals) -> Iterator[Anomaly]:
    """Find where the value loss became far larger than ever before, and stayed so for some samples.

    Larger returns explain a larger loss: it grows as their square, unless rewards are clipped. A jump at the first
    reward is not reported.
    """
    samples = signals[VALUE_LOSS].merged()
    values, reach = samples.values, _reach(signals, samples.steps)
    highest = np.maximum(np.maximum.accumulate(values), 1e-9)
    for at in np.flatnonzero(values[1:] > EXPLODED_LOSS * highest[:-1]) + 1:
        later = values[at : at + LOSS_WINDOW]
        before, then = reach[at - 1], reach[at + len(later) - 1]
        is_first_reward = not before and then > 0
        if at < FEWEST_SAMPLES // 2 or len(later) < SHORTEST_EXPLOSION or is_first_reward:
            continue
        growth = (then / before) ** 2 if before and signals.config.get("clip_rewards") is not True else 1.0
        if min(values[at], np.median(later)) > EXPLODED_LOSS * growth * highest[at - 1]:
            detail = (
                f"It rose from at most {highest[at - 1]:.3g} to {values[at]:.3g}. Clip the gradients or use a smaller "
                "learning rate."
            )
            yield anomaly_at(VALUE_LOSS, samples, int(at), "loss_exploded", "Value loss exploded", detail)


def _reach(signals: Signals, steps: Ints) -> Floats:
    """Return the largest size of a return until each step, or 1 if no return is known in the whole run."""
    if EPISODE_RETURN not in signals.series or not len(signals[EPISODE_RETURN].values):
        return np.ones(len(steps))
    returns = signals[EPISODE_RETURN]
    largest = np.maximum.accumulate(np.append(0.0, np.abs(returns.values)))
    return largest[np.searchsorted(returns.steps, steps, side="right")]


def find_not_a_number(signals: Signals) -> Iterator[Anomaly]:
    """Find the first value of a learning metric that is NaN or infinite."""
    for name in LEARNING:
        if name in signals.series and (wrong := np.flatnonzero(~np.isfinite(signals[name].values))).size:
            detail = f"{name} is not a finite number: the weights have diverged. Use a smaller learning rate."
            yield anomaly_at(name, signals[name], int(wrong[0]), "not_a_number", "Diverged", detail)


def find_missing_episodes(signals: Signals) -> Iterator[Anomaly]:
    """Find where no episode ended for much longer than before and after. Better agents may have longer episodes."""
    samples = signals[EPISODE_RETURN]
    gaps = np.diff(samples.seconds)
    # Episodes that were reported together have no gap.
    places = np.flatnonzero(gaps > 0)
    lengths = gaps[places]
    for number in np.flatnonzero(lengths > NO_EPISODE_SECONDS):
        sides = lengths[max(0, number - NEAR_GAPS) : number], lengths[number + 1 : number + 1 + NEAR_GAPS]
        near = [side for side in sides if len(side) >= FEWEST_GAPS]
        if near and all(
            lengths[number] > max(USUAL_GAPS * np.median(of), LONG_GAPS * np.quantile(of, 0.9)) for of in near
        ):
            title = f"No episode for {lengths[number] / 60:.0f} min"
            detail = "The agent may be stuck, or the host was suspended."
            yield anomaly_at(EPISODE_RETURN, samples, int(places[number]), "no_episode", title, detail)


def find_halved_speed(signals: Signals) -> Iterator[Anomaly]:
    """Find where the speed fell to less than half for a while, and below nine of ten earlier speeds."""
    samples = signals[STEPS_PER_SECOND].after_startup().merged()
    values, is_slow, usual = samples.values, False, 0.0
    for at in range(SPEED_BEFORE, len(values) - SPEED_AFTER + 1):
        begin, end = np.searchsorted(samples.seconds, samples.seconds[at] + np.array([-SLOW_SECONDS, SLOW_SECONDS]))
        after = values[at : max(at + SPEED_AFTER, end)]
        now = float(np.median(after))
        if is_slow:
            is_slow = now < RECOVERED * usual
            continue
        before = values[min(at - SPEED_BEFORE, begin) : at]
        usual = float(np.median(before))
        is_slow = bool(
            max(now, values[at]) < HALVED * usual
            and now < np.quantile(values[:at], 0.1)
            and np.quantile(after, 0.9) < usual
        )
        if is_slow:
            detail = f"From {usual:,.0f} to {now:,.0f} steps per second."
            yield anomaly_at(STEPS_PER_SECOND, samples, at, "speed_halved", "Speed halved", detail)


EXPLAINED_VARIANCE, VALUE_SPREAD, LEARNING_RATE, EPSILON = (
    "train/explained_variance",
    "network/value_spread",
    "train/learning_rate",
    "train/epsilon",
)
POLICY_LAG, GA3C_LAG, GA3C_BATCH = "train/policy_lag", "ga3c/policy_lag", "ga3c/training_batch"

# A difference of means, ranks or a trend of ranks counts from this many standard errors.
CLEAR_ERRORS = 2.5
# An improvement while the learning rate falls is clear if its probability by chance is below this.
CLEAR_CHANCE = 0.01
# A return has stalled if it has not improved after this share of the steps. It is not judged with fewer episodes.
STALLED_SHARE, FEWEST_EPISODES = 0.5, 40
# A run that begins later, such as a fork, has learned before.
LATEST_START = 0.1
UNEXPLAINED_VARIANCE = 0.01
DEAD_SHARE = 0.99
# Gradient norms are compared with those of the first part, and with the limit of the setting.
EXPLODED_GRADIENT, EXPLODED_LIMITS = 1_000.0, 100.0
# Updates of lag, and how often the lag that the number of agents or actor-learners causes.
MIN_LAG, USUAL_LAGS = 10.0, 4.0
# The learning rate is spent below the first share of its peak. Improvement is judged below the second.
SPENT_RATE, LOW_RATE = 0.02, 0.1
LOST_SPEED = 0.4
# Mean size of the reward per step.
CLIPPED_REWARD, LARGE_REWARD = 1.5, 10.0
# A third of the paper's actor-learners act at random in half of their steps.
STUCK_EPSILON = 0.55


def find_stalled_return(signals: Signals) -> Iterator[Anomaly]:
    """Find a return that has not improved although much of the training is over."""
    samples = signals[EPISODE_RETURN]
    if len(samples.values) < FEWEST_EPISODES or not _is_late(signals, samples) or has_learned(signals):
        return
    first, last = (float(part.mean()) for part in ends(samples.values))
    detail = f"The mean return was {first:.4g} in the first tenth of the episodes and is {last:.4g} now."
    yield anomaly_at(EPISODE_RETURN, samples, 0, "return_stalled", "Return stalled", detail)


def find_uninformative_value(signals: Signals) -> Iterator[Anomaly]:
    """Find values that explain none of the differences between returns, in a run that does not learn."""
    if signals.has(EXPLAINED_VARIANCE):
        metric, samples = EXPLAINED_VARIANCE, signals[EXPLAINED_VARIANCE].merged()
    elif signals.has(VALUE_SPREAD, VALUE_LOSS):
        metric, samples = VALUE_SPREAD, _estimate_explained_variance(signals)
    else:
        return
    half = len(samples.values) // 2
    is_unexplained = float(np.median(samples.values[half:])) < UNEXPLAINED_VARIANCE
    if is_unexplained and _is_late(signals, samples) and signals.has(EPISODE_RETURN) and not has_learned(signals):
        detail = (
            f"The values explain less than {UNEXPLAINED_VARIANCE:.0%} of the variance of the returns, so the agent "
            "cannot tell good states from bad ones."
        )
        yield anomaly_at(metric, samples, half, "value_uninformative", "Value explains nothing", detail)


def find_dead_layers(signals: Signals) -> Iterator[Anomaly]:
    """Find layers whose units are all inactive for the rest of the run."""
    for metric in DEAD_UNITS:
        if metric.name not in signals.series or not len(signals[metric.name].values):
            continue
        samples = signals[metric.name]
        if (at := start_of_lasting(samples.values >= DEAD_SHARE)) is not None:
            layer = metric.title.removeprefix("Dead in ")
            detail = f"No recent state activates any unit of {layer}, so no gradient reaches the layers below."
            yield anomaly_at(metric.name, samples, at, "layer_dead", "Layer is dead", detail)


def find_exploded_gradients(signals: Signals) -> Iterator[Anomaly]:
    """Find gradient norms that became far larger than at the start and than the limit."""
    samples = signals[GRADIENT_NORM].merged()
    first = float(np.median(ends(samples.values)[0]))
    limit = max(EXPLODED_GRADIENT * first, EXPLODED_LIMITS * (signals.number("max_grad_norm") or 0.0), 1e-9)
    if (at := start_of_lasting(samples.values > limit)) is not None:
        detail = f"The gradient norm rose from {first:.3g} to {samples.values[at]:.3g} and stayed there."
        yield anomaly_at(GRADIENT_NORM, samples, at, "gradient_exploded", "Gradients exploded", detail)


def find_policy_lag(signals: Signals) -> Iterator[Anomaly]:
    """Find gradients of a policy that is many updates old."""
    for metric in (GA3C_LAG, POLICY_LAG):
        if not signals.has(metric):
            continue
        samples, usual = signals[metric].merged(), _usual_lag(signals)
        limit = max(MIN_LAG, USUAL_LAGS * usual)
        if (at := start_of_lasting(samples.values > limit)) is not None:
            lag = float(np.median(samples.values[at:]))
            detail = f"Experiences are {lag:,.0f} updates old when they are learned from; about {usual:,.0f} is usual."
            yield anomaly_at(metric, samples, at, "policy_lag", "Policy lags", detail)


def find_spent_learning_rate(signals: Signals) -> Iterator[Anomaly]:
    """Find a learning rate that decayed to zero while the return still rose."""
    rates, returns = signals[LEARNING_RATE], signals[EPISODE_RETURN]
    peak = float(rates.values.max())
    at = start_of_lasting(rates.values < LOW_RATE * peak)
    if at is None or rates.values[-1] > SPENT_RATE * peak or signals.is_solved(ends(returns.values)[1]):
        return
    recent = returns.since(int(rates.steps[at])).merged().values
    if len(recent) < FEWEST_SAMPLES:
        return
    width = len(recent) // 2
    before, after = recent[:width], recent[-width:]
    was, now = float(np.median(before)), float(np.median(after))
    gap = now - was
    if rank_sum_z(after, before) > critical_rank_z(recent, [before, after], gap, CLEAR_CHANCE):
        detail = (
            f"The usual return still rose from {was:.4g} to {now:.4g} while the learning rate fell "
            f"below {LOW_RATE:.0%} of its peak."
        )
        yield anomaly_at(LEARNING_RATE, rates, at, "learning_rate_spent", "Learning rate at zero", detail)


def find_lost_throughput(signals: Signals) -> Iterator[Anomaly]:
    """Find a speed that is much lower than before, and stays so."""
    samples = signals[STEPS_PER_SECOND].after_startup().merged()
    if len(samples.values) < FEWEST_SAMPLES:
        return
    recent = max(FEWEST_SAMPLES // 2, len(samples.values) // PARTS)
    usual, now = (float(np.median(part)) for part in (samples.values[:-recent], samples.values[-recent:]))
    if now < LOST_SPEED * usual:
        slow = start_of_lasting(samples.values < 2 * LOST_SPEED * usual)
        at = len(samples.values) - recent if slow is None else slow
        detail = f"It fell from usually {usual:,.0f} to {now:,.0f} steps per second."
        yield anomaly_at(STEPS_PER_SECOND, samples, at, "throughput_lost", "Throughput lost", detail)


def find_reward_scale(signals: Signals) -> Iterator[Anomaly]:
    """Find rewards that clipping makes equal, or that are large and not clipped."""
    is_clipped, environment = signals.config.get("clip_rewards"), signals.environment
    length = float(signals[EPISODE_LENGTH].values.mean())
    if not isinstance(is_clipped, bool) or environment is None or length <= 0:
        return
    samples = signals[EPISODE_RETURN]
    reward = float(np.abs(samples.values).mean()) / length
    # The papers clip the rewards of all Atari games.
    if is_clipped and environment.family is not ATARI and reward > CLIPPED_REWARD:
        detail = f"Rewards have a mean size of {reward:.3g} per step. Clipped to [−1, 1], they hardly differ."
        yield anomaly_at(EPISODE_RETURN, samples, 0, "reward_scale", "Rewards are clipped", detail)
    if not is_clipped and reward > LARGE_REWARD:
        detail = f"Rewards have a mean size of {reward:.3g} per step, which makes the value loss and gradients large."
        yield anomaly_at(EPISODE_RETURN, samples, 0, "reward_scale", "Rewards are large", detail)


def find_stuck_epsilon(signals: Signals) -> Iterator[Anomaly]:
    """Find actors that still act mostly at random although much of the training is over."""
    samples = signals[EPSILON].merged()
    at = start_of_lasting(samples.values > STUCK_EPSILON)
    if at is not None and _is_late(signals, samples):
        detail = f"{samples.values[-1]:.0%} of the actions are still random."
        yield anomaly_at(EPSILON, samples, at, "epsilon_stuck", "ε is stuck", detail)


def has_learned(signals: Signals) -> bool:
    """Return True if the return has improved clearly at any time or over the run, or solves the environment.

    Means, ranks or their trend may show it, because heavy tails hide a difference of means. Autocorrelated values must
    improve more.
    """
    values = signals[EPISODE_RETURN].merged().values
    first, *others = parts = np.array_split(values, PARTS)
    shortest = min(map(len, parts))
    gains = [rank_trend_z(values)]
    gains += [max(standard_errors_apart(part, first), rank_sum_z(part, first)) for part in others]
    return signals.is_solved(ends(values)[1]) or max(gains) > CLEAR_ERRORS * error_factor(
        [part[:shortest] for part in parts]
    )


def _is_late(signals: Signals, samples: Samples) -> bool:
    """Return True if the run began from scratch and much of its training is over.

    Other metrics show when it began. In a short run with long episodes, the first one ends late.
    """
    total = signals.number("total_steps")
    began = min(int(each.steps[0]) for each in signals.series.values() if len(each.steps))
    return total is not None and began <= LATEST_START * total and samples.steps[-1] >= STALLED_SHARE * total


def _estimate_explained_variance(signals: Signals) -> Samples:
    """Estimate the explained variance at each sample of the spread: var(V) / (var(V) + squared error)."""
    spread, loss = signals[VALUE_SPREAD], signals[VALUE_LOSS].merged()
    variance = np.square(spread.values)
    # The median of each value and its neighbors, because a few states may have most of the loss.
    values = np.abs(loss.values)
    window = max(1, len(values) // PARTS)
    padded = np.pad(values, (window // 2, window - 1 - window // 2), mode="edge")
    medians: Floats = np.median(np.lib.stride_tricks.sliding_window_view(padded, window), axis=-1)
    error = np.interp(spread.steps, loss.steps, medians)
    return Samples(spread.steps, spread.seconds, variance / np.maximum(variance + error, 1e-12))


def _usual_lag(signals: Signals) -> float:
    """Return the number of updates by others while an agent or actor-learner gathers its experiences."""
    agents = signals.number("num_agents") or signals.number("num_actors") or 1.0
    if not signals.has(GA3C_BATCH):
        return agents - 1
    batch = float(np.median(signals[GA3C_BATCH].values))
    return agents * (signals.number("t_max") or 1.0) / max(1.0, batch)
