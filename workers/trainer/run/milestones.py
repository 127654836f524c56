"""Mean returns that deserve a checkpoint and its replay before the next scheduled one."""

# The minimum time between milestones. Solving the environment is always one.
MILESTONE_SECONDS = 120.0
# A better mean is a milestone only if it adds this share of the progress so far, so that noise does not count.
CLEAR_IMPROVEMENT = 0.05


class Milestones:
    """Detector of mean returns over a full window that are the first solve or clearly a new best."""

    def __init__(self, solved_at: float | None, best: float | None) -> None:
        self._solved_at = solved_at
        self._best = best
        self._lowest = best
        self._solved = best is not None and self._solves(best)
        self._reached_at: float | None = None

    def is_reached(self, mean: float, now: float) -> bool:
        """Return True if a checkpoint saved now, at this mean, would be a milestone."""
        best = self._best = mean if self._best is None else self._best
        lowest = self._lowest = min(mean, best if self._lowest is None else self._lowest)
        if self.is_first_solve(mean):
            return True
        if self._reached_at is not None and now < self._reached_at + MILESTONE_SECONDS:
            return False
        return mean > best + CLEAR_IMPROVEMENT * (best - lowest)

    def is_first_solve(self, mean: float) -> bool:
        """Return True if this mean solves the environment and none did before."""
        return not self._solved and self._solves(mean)

    def reach(self, mean: float, now: float) -> None:
        """Record that a checkpoint was saved at a milestone."""
        self._best, self._reached_at = mean, now
        self._solved = self._solved or self._solves(mean)

    def _solves(self, mean: float) -> bool:
        return self._solved_at is not None and mean >= self._solved_at
