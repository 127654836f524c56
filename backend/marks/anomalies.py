"""Rules that find events in the metrics of a run: collapses, jumps, NaN and pauses."""

import math
from collections.abc import Iterator

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from backend.marks.signals import FEWEST_SAMPLES, Anomaly, Signals, anomaly_at, start_of_lasting
from workers.contract.inference.ranks import critical_z, rank_correlation, rank_sum_z, usual_change
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
ALPHA, LARGE_LOSS = 0.025, 3.0
EXPLODED_LOSS = 100.0
NO_EPISODE_SECONDS = 300.0
# An episode may also be late if episodes are usually long.
USUAL_GAPS = 10
SPEED_BEFORE, SPEED_AFTER = 10, 5
HALVED, RECOVERED = 0.5, 0.75


def find_entropy_collapse(signals: Signals) -> Iterator[Anomaly]:
    """Find where the policy became almost deterministic for the rest of the run."""
    samples = signals[ENTROPY].merged()
    if (samples.values < 0).any():
        return  # the entropy of a density has no fixed scale
    peak = float(samples.values.max())
    if (at := start_of_lasting(samples.values < COLLAPSED_ENTROPY * peak)) is not None:
        detail = (
            f"It fell from {peak:.3g} to less than {COLLAPSED_ENTROPY:.0%} of that, so the agent hardly explores any "
            "more. A larger entropy weight or a smaller learning rate prevents this."
        )
        yield anomaly_at(ENTROPY, samples, at, "entropy_collapsed", "Entropy collapsed", detail)


def find_return_collapse(signals: Signals) -> Iterator[Anomaly]:
    """Find where the agent lost most of what it had learned, and did not regain it.

    The best part of the run must rank above its first and its last part. Ranks and medians count, not a lucky episode.
    The level allows for choosing the best of many parts. Unless the loss is far larger than the usual changes between
    episodes, it also allows for returns that resemble those before them.
    """
    samples = signals[EPISODE_RETURN].merged()
    values = samples.values
    width = max(RETURN_WINDOW, len(values) // RETURN_PARTS)
    ranks = np.argsort(np.argsort(values, kind="stable"), kind="stable")
    best = int(np.convolve(ranks, np.ones(width), mode="valid").argmax())
    first, peak, last = values[:width], values[best : best + width], values[-width:]
    before, at_best, at_end = (float(np.median(part)) for part in (first, peak, last))
    limit = before + COLLAPSED_RETURN * (at_best - before)
    level = critical_z(ALPHA * width / (4 * len(values)))
    if at_best - max(before, at_end) <= LARGE_LOSS * usual_change(values) * math.sqrt(width):
        likeness = rank_correlation([first, peak, last])
        level *= math.sqrt((1 + likeness) / (1 - likeness))
    if at_end >= limit or min(rank_sum_z(peak, first), rank_sum_z(peak, last)) <= level:
        return
    recent = np.median(sliding_window_view(values, RETURN_WINDOW), axis=1)
    if (at := start_of_lasting((np.arange(len(recent)) > best) & (recent < limit))) is not None:
        detail = (
            f"The median return fell from {at_best:.4g} to less than {limit:.4g} and stayed there. Fork the run from "
            "an earlier checkpoint with a smaller learning rate."
        )
        at += RETURN_WINDOW - 1
        yield anomaly_at(EPISODE_RETURN, samples, at, "return_collapsed", "Return collapsed", detail)


def find_exploded_loss(signals: Signals) -> Iterator[Anomaly]:
    """Find where the value loss became far larger than ever before."""
    samples = signals[VALUE_LOSS].merged()
    highest = np.maximum.accumulate(samples.values)
    jumps = samples.values[1:] > EXPLODED_LOSS * np.maximum(highest[:-1], 1e-9)
    for at in np.flatnonzero(jumps & (np.arange(1, len(samples.values)) >= FEWEST_SAMPLES // 2)):
        before, now = highest[at], samples.values[at + 1]
        detail = f"It rose from at most {before:.3g} to {now:.3g}. Clip the gradients or use a smaller learning rate."
        yield anomaly_at(VALUE_LOSS, samples, int(at) + 1, "loss_exploded", "Value loss exploded", detail)


def find_not_a_number(signals: Signals) -> Iterator[Anomaly]:
    """Find the first value of a learning metric that is NaN or infinite."""
    for name in LEARNING:
        if name in signals.series and (wrong := np.flatnonzero(~np.isfinite(signals[name].values))).size:
            detail = f"{name} is not a finite number: the weights have diverged. Use a smaller learning rate."
            yield anomaly_at(name, signals[name], int(wrong[0]), "not_a_number", "Diverged", detail)


def find_missing_episodes(signals: Signals) -> Iterator[Anomaly]:
    """Find where no episode ended for a long time."""
    samples = signals[EPISODE_RETURN]
    gaps = np.diff(samples.seconds)
    limit = max(NO_EPISODE_SECONDS, USUAL_GAPS * float(np.median(gaps[gaps > 0], axis=0) if (gaps > 0).any() else 0))
    for at in np.flatnonzero(gaps > limit):
        title = f"No episode for {gaps[at] / 60:.0f} min"
        yield anomaly_at(
            EPISODE_RETURN, samples, int(at), "no_episode", title, "The agent may be stuck, or the host was suspended."
        )


def find_halved_speed(signals: Signals) -> Iterator[Anomaly]:
    """Find where the speed fell to less than half for a while."""
    samples = signals[STEPS_PER_SECOND].after_startup().merged()
    values, is_slow, usual = samples.values, False, 0.0
    for at in range(SPEED_BEFORE, len(values) - SPEED_AFTER + 1):
        now = float(np.median(values[at : at + SPEED_AFTER]))
        if is_slow:
            is_slow = now < RECOVERED * usual
            continue
        usual = float(np.median(values[at - SPEED_BEFORE : at]))
        if now < HALVED * usual and values[at] < HALVED * usual:
            is_slow = True
            detail = f"From {usual:,.0f} to {now:,.0f} steps per second."
            yield anomaly_at(STEPS_PER_SECOND, samples, at, "speed_halved", "Speed halved", detail)
