"""Losses far above the usual, whose gradients would do more harm than good (Nair et al. 2015, section 4.2)."""

from math import sqrt

# Over how many losses the mean runs, and how many it takes before it is worth asking.
HORIZON, WARM_UP = 1000, 100


class LossWatch:
    """Running mean and deviation of the absolute loss that one learner saw."""

    def __init__(self, deviations: float) -> None:
        self._deviations = deviations
        self._seen = 0
        self.mean = self.variance = 0.0

    def is_outlier(self, loss: float) -> bool:
        """Say whether a loss lies above the mean plus k deviations, and take it in.

        Outliers are taken in as well: if the losses have grown for good, they soon are the usual ones.
        """
        outlier = self._seen >= WARM_UP and loss > self.mean + self._deviations * sqrt(self.variance)
        self._seen = min(self._seen + 1, HORIZON)
        distance = loss - self.mean
        self.mean += distance / self._seen
        self.variance += (distance * (loss - self.mean) - self.variance) / self._seen
        return outlier
