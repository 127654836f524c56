"""Schemas of practices."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from arcadia_backend.jobs import JobFields
from arcadia_workers.contract.practice import ArmName, PracticeDocument, PracticeOptions
from arcadia_workers.contract.worker_api import State

Stage = Literal["planning", "training", "measuring"]


class PracticeCostPreview(BaseModel):
    """What a practice would do, and what it would cost."""

    reviews: int = Field(description="Finished reviews of this checkpoint that are used.")
    practiced: int = Field(description="Mistakes from which the agent would practice.")
    held_out: int = Field(description="Mistakes that would be kept to measure.")
    smallest_improvement: float | None = Field(
        description="Smallest mean rise of the outcome at the kept mistakes that one pair can show; null with several "
        "pairs, whose interval has no such limit, and if the practice is refused."
    )
    steps: int = Field(description="Steps of each run.")
    runs: int
    training_steps: int = Field(description="Steps of all runs together.")
    training_seconds: float | None = Field(description="Work of all runs, from earlier runs; null without any.")
    measuring_seconds: float = Field(description="Work of the jobs, from the time that the reviews took.")
    disk_bytes: int = Field(description="Largest size of the checkpoints of all runs, without replays.")
    refused: str | None = Field(description="Why the practice cannot start, as a sentence.")


class PracticeRun(BaseModel):
    """One of the two runs of a pair, with what is known about it."""

    name: ArmName
    pair: int = Field(description="Number of the pair, from 1.")
    run_id: int | None = Field(description="Null if the run was deleted or is of another installation.")
    state: State | None = Field(description="Null like the id.")
    steps: int = Field(description="Steps that it has trained on.")
    outcome: float | None = Field(description="Mean outcome over the held-out moments; null until it is measured.")
    probability: float | None = Field(description="Mean probability of repeating the held-out mistakes.")
    score: float | None = Field(description="Mean score of the evaluation episodes.")


class Practice(JobFields, PracticeOptions):
    """A practice, with what is known so far. NaN and infinity are strings.

    `done` and `total` are in the unit of the stage: simulated moments and episodes, or training steps of all runs.
    """

    model_config = ConfigDict(ser_json_inf_nan="strings")

    id: int
    replay_id: int = Field(description="The replay of the review.")
    run_id: int = Field(description="The run of the replay.")
    step: int = Field(description="The step of the checkpoint that practices.")
    stage: Stage = Field(description="What is done, or was done last.")
    practiced: int | None = Field(description="Mistakes from which the agent practices; null until that is planned.")
    held_out: int | None = Field(description="Mistakes that are kept to measure.")
    outcome_before: float | None = Field(description="Mean outcome of the agent before practice at these.")
    probability_before: float | None = Field(description="Its mean probability of repeating them.")
    arms: list[PracticeRun]
    document: PracticeDocument | None = Field(description="The verdict; null until all runs are measured.")
