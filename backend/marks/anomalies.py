"""Rules that find events in the metrics of a run: collapses, jumps, NaN and pauses."""

from collections.abc import Iterator

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from backend.marks.signals import FEWEST_SAMPLES, Anomaly, Signals, anomaly_at, ends, start_of_lasting
from backend.metrics.points import Floats, Ints
from workers.contract.inference.ranks import critical_rank_z, middle_mean, middle_ranks, rank_sum_z
from workers.contract.metrics import EPISODE_RETURN, STEPS_PER_SECOND

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
