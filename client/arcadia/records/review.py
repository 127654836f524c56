"""The fields of reviews and practices."""

from __future__ import annotations

from typing import Any

from arcadia.records import Record
from arcadia.records.job import JobRecord


class ReviewRecord(JobRecord):
    """The fields of a review: the decisions at which the agent of a replay, or a person, lost."""

    noun = "Review"

    replay_id: int | None
    """Number of the replay. None if it reviews a kept game."""

    kept_game_id: int | None
    """Number of the kept game. None if it reviews a replay."""

    step: int
    """Step of the checkpoint that played the replay, or that reviews a kept game."""

    done: int
    """Decisions that are finished."""

    total: int
    """Decisions to review."""

    @property
    def reviewed(self) -> list[dict[str, Any]]:
        """What is known about each decision so far, in the order in which they are reviewed."""
        return list(self.document.get("reviewed", []))

    @property
    def mistakes(self) -> list[dict[str, Any]]:
        """The decisions that are shown to lose, in the order of the episode. At most 5 % are false on average."""
        shown = [each for each in self.reviewed if each["finding"] == "mistake"]
        return sorted(shown, key=lambda each: int(each["decision"]))

    @property
    def situations(self) -> list[dict[str, Any]]:
        """Groups of mistakes at similar moments, the most costly first: `decisions`, and the typical one, `shown`."""
        return list(self.document.get("situations", []))

    @property
    def document(self) -> dict[str, Any]:
        """Everything that is known so far, as `arcadia review --json` prints it."""
        return dict(self.data.get("document") or {})


class PracticePreview(Record):
    """What a practice would do and cost, before it starts."""

    reviews: int
    """Finished reviews of the checkpoint that are used."""

    practiced: int
    """Mistakes from which the agent would practice."""

    held_out: int
    """Mistakes that would be kept to measure."""

    smallest_improvement: float | None
    """Smallest mean rise of the outcome at these that one pair can show. None with several pairs."""

    steps: int
    """Steps of each run."""

    training_steps: int
    """Steps of all runs together."""

    training_seconds: float | None
    """Work of all runs, measured from earlier runs. None without any."""

    measuring_seconds: float
    """Work of the jobs that measure the agents."""

    disk_bytes: int
    """Largest size of the checkpoints of all runs."""

    @property
    def rejection(self) -> str | None:
        """Sentence that says why the practice cannot start."""
        return self._text("refused")

    def __repr__(self) -> str:
        return f"<PracticePreview: {self.practiced} mistakes, {self.training_steps:,} steps>"


class PracticeRecord(JobRecord):
    """The fields of a practice: training from mistakes, compared with a control."""

    noun = "Practice"

    step: int
    """Step of the checkpoint that practices."""

    stage: str
    """One of planning, training and measuring: what is done, or was done last."""

    done: int
    """Progress within the stage."""

    total: int
    """Total of the stage. 0 while it is unknown."""

    practiced: int | None
    """Mistakes from which the agent practices. None until that is planned."""

    held_out: int | None
    """Mistakes that are kept to measure."""

    @property
    def arms(self) -> list[dict[str, Any]]:
        """The runs, with what is known about each: `name`, `pair`, `run_id`, `state`, `outcome`, `score` and others."""
        return list(self.data["arms"])

    @property
    def fewer_mistakes(self) -> str | None:
        """Say whether the mistakes became rarer: improved, no improvement shown, or harmed. None until that is known.

        One pair compares only its two agents. Three pairs or more speak about practice.
        """
        return self._verdict("mistakes")

    @property
    def better_score(self) -> str | None:
        """Say whether the score rose: improved, no improvement shown, or harmed. None until that is known."""
        return self._verdict("score")

    @property
    def document(self) -> dict[str, Any]:
        """The whole result, as `arcadia practice --json` prints it. Empty until it is known."""
        return dict(self.data["document"] or {})

    def _verdict(self, question: str) -> str | None:
        return str(self.document[question]["verdict"]) if self.document else None

    def __repr__(self) -> str:
        known = f", mistakes: {self.fewer_mistakes}, score: {self.better_score}" if self.document else f", {self.stage}"
        return f"<Practice {self.id} of run {self.run_id} at step {self.step:,}: {self.state}{known}>"
