"""Which checkpoints are kept: the last three, and the best by mean return."""

import math

from pydantic import BaseModel, ConfigDict

KEEP_LAST = 3
RETURN_WINDOW = 100


class Retention(BaseModel):
    """The kept checkpoints of a run; goes on over resumes, for each checkpoint holds its own."""

    model_config = ConfigDict(frozen=True)

    last: tuple[str, ...] = ()
    best: str | None = None
    # Whether the mean was of a full window, and the mean: a mean of few episodes is no match for one of a hundred.
    best_score: tuple[bool, float] | None = None

    @property
    def kept(self) -> list[str]:
        """Files to keep, oldest first."""
        return sorted({*self.last, *([self.best] if self.best else [])})

    def after(self, file: str, returns: list[float]) -> "Retention":
        """Add a checkpoint, saved when the last episodes had these returns."""
        last = (*(name for name in self.last if name != file), file)[-KEEP_LAST:]
        mean = sum(returns) / len(returns) if returns else math.nan
        if not math.isnan(mean):
            score = (len(returns) >= RETURN_WINDOW, mean)
            if self.best_score is None or score >= self.best_score:
                return Retention(last=last, best=file, best_score=score)
        return Retention(last=last, best=self.best, best_score=self.best_score)


class RunFacts(BaseModel):
    """What the run itself keeps in a checkpoint, beside the algorithm's state."""

    model_config = ConfigDict(frozen=True, ser_json_inf_nan="strings")

    returns: tuple[float, ...] = ()
    retention: Retention = Retention()
