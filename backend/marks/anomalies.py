"""Rules that find anomalies in the metrics of a run. Pure arithmetic, without the database."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from backend.marks.schemas import AnomalyRule, RuleName
from backend.metrics.points import Floats, Ints
from workers.contract.metrics import EPISODE_RETURN, STEPS_PER_SECOND

ENTROPY, POLICY_LOSS, VALUE_LOSS, GRADIENT_NORM = (
    "train/entropy",
    "train/policy_loss",
    "train/value_loss",
    "train/grad_norm",
)
LEARNING = (POLICY_LOSS, VALUE_LOSS, ENTROPY, GRADIENT_NORM)
METRICS = (EPISODE_RETURN, STEPS_PER_SECOND, *LEARNING)

MAX_SAMPLES = 400
MAX_ANOMALIES_PER_RULE = 5
# Fewer samples are not judged.
FEWEST_SAMPLES = 20
# A collapse lasts for this share of the samples, until the last one.
LASTING_SHARE = 0.05
COLLAPSED_ENTROPY = 0.02
COLLAPSED_RETURN = 0.5
RETURN_WINDOW = 10
EXPLODED_LOSS = 100.0
NO_EPISODE_SECONDS = 300.0
# An episode may also be late if episodes are usually long.
USUAL_GAPS = 10
SPEED_BEFORE, SPEED_AFTER = 10, 5
HALVED, RECOVERED = 0.5, 0.75


@dataclass(frozen=True)
class Samples:
    """Values of a metric in order, with the step and the seconds of training of each."""

    steps: Ints
    seconds: Floats
    values: Floats

    def merged(self) -> "Samples":
        """Return means of consecutive values if there are too many. The place of a mean is that of its first value."""
        if len(self.values) <= MAX_SAMPLES:
            return self
        starts = np.linspace(0, len(self.values), MAX_SAMPLES, endpoint=False).astype(np.int64)
        counts = np.diff(starts, append=len(self.values))
        return Samples(self.steps[starts], self.seconds[starts], np.add.reduceat(self.values, starts) / counts)


@dataclass(frozen=True)
class Anomaly:
    """An anomaly, and where it began."""

    rule: RuleName
    metric: str
    step: int
    seconds: float
    title: str
    detail: str


Series = Mapping[str, Samples]
FindAnomalies = Callable[[Series], Iterator[Anomaly]]


def find_entropy_collapse(series: Series) -> Iterator[Anomaly]:
    """Find where the policy became almost deterministic for the rest of the run."""
    samples = series[ENTROPY].merged()
    if (samples.values < 0).any():
        return  # the entropy of a density has no fixed scale
    peak = float(samples.values.max())
    if (at := _start_of_lasting(samples.values < COLLAPSED_ENTROPY * peak)) is not None:
        detail = (
            f"It fell from {peak:.3g} to less than {COLLAPSED_ENTROPY:.0%} of that, so the agent hardly explores any "
            "more. A larger entropy weight or a smaller learning rate prevents this."
        )
        yield _at(ENTROPY, samples, at, "entropy_collapsed", "Entropy collapsed", detail)


def find_return_collapse(series: Series) -> Iterator[Anomaly]:
    """Find where the agent lost most of what it had learned, and did not regain it."""
    samples = series[EPISODE_RETURN].merged()
    means = np.convolve(samples.values, np.ones(RETURN_WINDOW) / RETURN_WINDOW, mode="valid")
    best, first = float(means.max()), float(means[0])
    limit = first + COLLAPSED_RETURN * (best - first)
    after_best = np.arange(len(means)) > int(means.argmax())
    # A return that never rose clearly has nothing to lose.
    if best - first <= 2 * float(samples.values[:RETURN_WINDOW].std()):
        return
    if (at := _start_of_lasting(after_best & (means < limit))) is not None:
        detail = (
            f"The mean return fell from {best:.4g} to less than {limit:.4g} and stayed there. Fork the run from an "
            "earlier checkpoint with a smaller learning rate."
        )
        yield _at(EPISODE_RETURN, samples, at + RETURN_WINDOW - 1, "return_collapsed", "Return collapsed", detail)


def find_exploded_loss(series: Series) -> Iterator[Anomaly]:
    """Find where the value loss became far larger than ever before."""
    samples = series[VALUE_LOSS].merged()
    highest = np.maximum.accumulate(samples.values)
    jumps = samples.values[1:] > EXPLODED_LOSS * np.maximum(highest[:-1], 1e-9)
    for at in np.flatnonzero(jumps & (np.arange(1, len(samples.values)) >= FEWEST_SAMPLES // 2)):
        before, now = highest[at], samples.values[at + 1]
        detail = f"It rose from at most {before:.3g} to {now:.3g}. Clip the gradients or use a smaller learning rate."
        yield _at(VALUE_LOSS, samples, int(at) + 1, "loss_exploded", "Value loss exploded", detail)


def find_not_a_number(series: Series) -> Iterator[Anomaly]:
    """Find the first value of a learning metric that is NaN or infinite."""
    for name in LEARNING:
        if name in series and (wrong := np.flatnonzero(~np.isfinite(series[name].values))).size:
            detail = f"{name} is not a finite number: the weights have diverged. Use a smaller learning rate."
            yield _at(name, series[name], int(wrong[0]), "not_a_number", "Diverged", detail)


def find_missing_episodes(series: Series) -> Iterator[Anomaly]:
    """Find where no episode ended for a long time."""
    samples = series[EPISODE_RETURN]
    gaps = np.diff(samples.seconds)
    limit = max(NO_EPISODE_SECONDS, USUAL_GAPS * float(np.median(gaps[gaps > 0], axis=0) if (gaps > 0).any() else 0))
    for at in np.flatnonzero(gaps > limit):
        title = f"No episode for {gaps[at] / 60:.0f} min"
        yield _at(
            EPISODE_RETURN, samples, int(at), "no_episode", title, "The agent may be stuck, or the host was suspended."
        )


def find_halved_speed(series: Series) -> Iterator[Anomaly]:
    """Find where the speed fell to less than half for a while."""
    samples = series[STEPS_PER_SECOND].merged()
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
            yield _at(STEPS_PER_SECOND, samples, at, "speed_halved", "Speed halved", detail)


# Each rule with the metrics that it needs, and what it tells people.
RULES: tuple[tuple[AnomalyRule, FindAnomalies, tuple[str, ...]], ...] = (
    (
        AnomalyRule(
            name="entropy_collapsed",
            title="Entropy collapsed",
            explanation=f"The policy's entropy stays below {COLLAPSED_ENTROPY:.0%} of its peak.",
        ),
        find_entropy_collapse,
        (ENTROPY,),
    ),
    (
        AnomalyRule(
            name="return_collapsed",
            title="Return collapsed",
            explanation="The mean return loses more than half of its gain and does not recover.",
        ),
        find_return_collapse,
        (EPISODE_RETURN,),
    ),
    (
        AnomalyRule(
            name="loss_exploded",
            title="Value loss exploded",
            explanation=f"The value loss is more than {EXPLODED_LOSS:.0f} times as large as ever before.",
        ),
        find_exploded_loss,
        (VALUE_LOSS,),
    ),
    (
        AnomalyRule(
            name="not_a_number", title="Diverged", explanation="A loss, the entropy or the gradient norm is not finite."
        ),
        find_not_a_number,
        (),
    ),
    (
        AnomalyRule(
            name="no_episode",
            title="No episode",
            explanation=f"No episode ends for {NO_EPISODE_SECONDS / 60:.0f} minutes of training, and ten usual gaps.",
        ),
        find_missing_episodes,
        (EPISODE_RETURN,),
    ),
    (
        AnomalyRule(
            name="speed_halved", title="Speed halved", explanation="The speed falls to less than half for a while."
        ),
        find_halved_speed,
        (STEPS_PER_SECOND,),
    ),
)


def find_anomalies(series: Series) -> Iterator[Anomaly]:
    """Return the anomalies of every rule that has enough finite samples of its metrics."""
    finite = {name: _finite(samples) for name, samples in series.items()}
    for _rule, find, needed in RULES:
        if all(name in finite and len(finite[name].values) >= FEWEST_SAMPLES for name in needed):
            yield from [*find(finite if needed else series)][:MAX_ANOMALIES_PER_RULE]


def _finite(samples: Samples) -> Samples:
    kept = np.isfinite(samples.values)
    return samples if kept.all() else Samples(samples.steps[kept], samples.seconds[kept], samples.values[kept])


def _start_of_lasting(holds: np.typing.NDArray[np.bool]) -> int | None:
    """Return the first place from which the condition holds until the end, if that part is long enough."""
    failing = np.flatnonzero(~holds)
    start = int(failing[-1]) + 1 if len(failing) else 0
    return start if len(holds) - start >= max(3, LASTING_SHARE * len(holds)) else None


def _at(metric: str, samples: Samples, at: int, rule: RuleName, title: str, detail: str) -> Anomaly:
    return Anomaly(rule, metric, int(samples.steps[at]), float(samples.seconds[at]), title, detail)
