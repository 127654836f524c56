"""False verdicts of pages that are looked at while equal groups train."""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from arcadia_backend.comparisons.schemas import Verdict
from arcadia_backend.comparisons.scores import SCORE_WINDOW, GroupScores, ScoredGroups, planned_step
from arcadia_backend.comparisons.verdict import give_verdict
from arcadia_backend.database.tables import Run
from arcadia_workers.contract.inference.means import Floats
from bench.simulations import SEED

LOOKS = 60
# Episodes between two looks. Their returns are autocorrelated, and half of the variance is that of the run.
EPISODES = 10
CORRELATION = 0.98
STEPS_PER_LOOK = 10_000
LOOK_SIZES = (3, 5, 10)
GROUPS = (2, 5, 10)

Judge = Callable[[ScoredGroups], Verdict]


class LookRow(NamedTuple):
    """Share of pages on which some look showed a false "beats"."""

    n: int
    groups: int
    looks: int
    false: float
    # The same at the planned end only.
    false_at_end: float
    pages: int

    @property
    def is_broken(self) -> bool:
        """Return True if more than 5 % are false, by more than three standard errors of the simulation."""
        return bool(self.false > 0.05 + 3 * (0.05 * 0.95 / self.pages) ** 0.5)


def judge(scored: ScoredGroups) -> Verdict:
    """Return the verdict of a page, as the comparison shows it."""
    return give_verdict(scored, lambda _best, _other: "")


def row_of_looks(n: int, groups: int, pages: int, judge: Judge = judge) -> LookRow:
    """Simulate pages of this many equal groups with n runs each, at each look until the planned end."""
    random = np.random.default_rng(SEED)
    runs = [
        [Run(id=1 + group * n + seed, env="ALE/Seaquest-v5", total_steps=LOOKS * STEPS_PER_LOOK) for seed in range(n)]
        for group in range(groups)
    ]
    seen = [
        [_shows_winner(judge, runs, returns, look) for look in range(1, LOOKS + 1)]
        for returns in _pages(random, pages, groups, n)
    ]
    return LookRow(
        n=n,
        groups=groups,
        looks=LOOKS,
        false=float(np.mean([any(looks) for looks in seen])),
        false_at_end=float(np.mean([looks[-1] for looks in seen])),
        pages=pages,
    )


def _pages(random: np.random.Generator, pages: int, groups: int, n: int) -> list[Floats]:
    """Return the episode returns of all runs of each page: a learning curve, the luck of a run, and slow noise."""
    progress = np.linspace(0, 1, LOOKS * EPISODES)
    found = []
    for _ in range(pages):
        noise = random.normal(0, (1 - CORRELATION**2) ** 0.5, (groups, n, len(progress)))
        noise[..., 0] = random.normal(0, 1, (groups, n))
        for place in range(1, len(progress)):
            noise[..., place] += CORRELATION * noise[..., place - 1]
        luck = random.normal(0, 1, (groups, n, 1))
        found.append(1_000 * progress + 100 * (noise + luck))
    return found


def _shows_winner(judge: Judge, runs: list[list[Run]], returns: Floats, look: int) -> bool:
    """Return True if the page says at this look that one of the equal groups beats another."""
    step, episodes = look * STEPS_PER_LOOK, look * EPISODES
    recent = returns[..., episodes - max(1, round(SCORE_WINDOW * episodes)) : episodes].mean(axis=-1)
    for run in (run for group in runs for run in group):
        run.state = "finished" if look == LOOKS else "running"
    scored = ScoredGroups(
        step,
        [GroupScores(f"group {place}", group, recent[place]) for place, group in enumerate(runs)],
        {run.id: float(step) for group in runs for run in group},
        planned_step(runs),
    )
    return any(pair.significant for pair in judge(scored).pairs)


def look_table(rows: Iterable[LookRow]) -> Iterator[str]:
    """Yield the lines of a table in Markdown."""
    yield "| runs per group | groups | looks | false at some look | false at the end |"
    yield "| --- | --- | --- | --- | --- |"
    for row in rows:
        yield f"| {row.n} | {row.groups} | {row.looks} | {row.false:.1%} | {row.false_at_end:.1%} |"
