"""Which checkpoints are kept on the disk of a run, and which of them is the best by mean return."""

import math
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from workers.contract import layout
from workers.contract.thinning import spent

RETURN_WINDOW = 100


class Retention(BaseModel):
    """The best checkpoint of a run; goes on over resumes, for each checkpoint holds its own."""

    model_config = ConfigDict(frozen=True)

    best: str | None = None
    # Whether the mean was of a full window, and the mean: a mean of few episodes is no match for one of a hundred.
    best_score: tuple[bool, float] | None = None

    @property
    def full_window_best(self) -> float | None:
        """The best mean of a full window; None before the first."""
        return self.best_score[1] if self.best_score and self.best_score[0] else None

    def after(self, file: str, returns: list[float]) -> "Retention":
        """Add a checkpoint, saved when the last episodes had these returns."""
        mean = sum(returns) / len(returns) if returns else math.nan
        if not math.isnan(mean):
            score = (len(returns) >= RETURN_WINDOW, mean)
            if self.best_score is None or score >= self.best_score:
                return Retention(best=file, best_score=score)
        return self


def kept(directory: Path, last: int, most: int, best: str | None) -> list[str]:
    """Name the files to keep, oldest first, now that the one of step `last` is saved.

    Those of later steps are none of them: the run went back behind them.
    """
    steps = [step for step in layout.saved_steps(directory) if step <= last]
    files = [layout.checkpoint_file(step) for step in steps]
    gone = spent(steps, most, [place for place, file in enumerate(files) if file == best])
    return [file for place, file in enumerate(files) if place not in gone]


class RunFacts(BaseModel):
    """What the run itself keeps in a checkpoint, beside the algorithm's state."""

    model_config = ConfigDict(frozen=True, ser_json_inf_nan="strings")

    returns: tuple[float, ...] = ()
    retention: Retention = Retention()
