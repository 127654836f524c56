"""The evaluation that stands for each run under each protocol: of each checkpoint's newest ones, the best.

What is full comes before what is of fewer episodes than its protocol asks for, and a number before NaN. Archived runs
count: only what is purged is gone.
"""

import math
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import Select, case, null, select
from sqlalchemy.orm import Session

from backend.checkpoints.superseded import is_superseded
from backend.colors import color_of
from backend.database.tables import Checkpoint, Evaluation, Job, Run
from backend.games import schemas
from workers.contract.config.problems import title_of
from workers.contract.environment_families import ATARI
from workers.contract.protocols import PROTOCOLS, fitting_protocols
from workers.contract.protocols.acting import Acting
from workers.contract.protocols.document import NormalisedBy
from workers.contract.published import normalising

# Scores from one agent's start points do not compare with those from another's.
OWN_STARTS = [protocol.name for protocol in PROTOCOLS.values() if protocol.starts_from == "agent"]
# Fewer numbers than a query may have.
PORTION = 10_000


class Like(NamedTuple):
    """What scores must have in common to be compared."""

    protocol: str
    starts: str | None


class Found(NamedTuple):
    """An evaluation that has ended, as much of it as the choice needs."""

    id: int
    run_id: int
    env: str
    like: Like
    checkpoint_id: int
    acting: str
    mean: float
    episodes: int
    # Points in the set at which it began, if it began at any.
    points: int | None

    @property
    def short(self) -> bool:
        """Whether these are fewer episodes than the protocol asks for, or not all points of their set."""
        return self.episodes < max(PROTOCOLS[self.like.protocol].episodes, self.points or 0)

    @property
    def ranked(self) -> bool:
        """Whether it can be ranked with others."""
        return not self.short and not math.isnan(self.mean)

    @property
    def worth(self) -> tuple[bool, bool, float]:
        """What a better one has more of."""
        wrong = math.isnan(self.mean)
        return not wrong, not self.short, 0.0 if wrong else self.mean


def finished() -> Select[*tuple[Any, ...]]:
    """Select every finished evaluation by a protocol of Atari games, but for those of lines that their runs left."""
    starts = Evaluation.document["starts"]["sha256"].as_string()
    of_set = case((Evaluation.protocol.in_(OWN_STARTS), starts), else_=null())
    points = Evaluation.starts["points"].as_integer()
    columns = (
        *(Evaluation.id, Evaluation.run_id, Run.env, Evaluation.protocol, of_set),
        *(Evaluation.checkpoint_id, Evaluation.acting, Evaluation.mean, Job.total, points),
    )
    return (
        select(*columns)
        .join(Job, Job.id == Evaluation.job_id)
        .join(Run, Run.id == Evaluation.run_id)
        .join(Checkpoint, Checkpoint.id == Evaluation.checkpoint_id)
        .where(Job.state == "done", Evaluation.mean.is_not(None), Evaluation.protocol.in_(fitting_protocols(ATARI)))
        .where(~is_superseded())
    )


def best_of_runs(session: Session, envs: Collection[str]) -> list[Found]:
    """The best evaluation of each run in these games under each protocol; of repetitions the newest counts."""
    rows = session.execute(finished().where(Run.env.in_(envs)).order_by(Evaluation.id))
    every = (
        Found(number, run_id, env, Like(protocol, starts), checkpoint, str(Acting.model_validate(acting)), *found)
        for number, run_id, env, protocol, starts, checkpoint, acting, *found in rows
    )
    # The best of an agent's repetitions would be its luckiest one.
    newest = {(one.run_id, one.like, one.checkpoint_id, one.acting, one.short): one for one in every}
    return best(newest.values(), lambda found: (found.run_id, found.like))


def best(every: Iterable[Found], key: Any) -> list[Found]:
    """The best of those that share a key; of equals the earliest."""
    chosen: dict[Any, Found] = {}
    for found in every:
        held = chosen.setdefault(key(found), found)
        if found.worth > held.worth:
            chosen[key(found)] = found
    return list(chosen.values())


def told(session: Session, chosen: Sequence[Found]) -> dict[int, schemas.RunScore]:
    """These evaluations as clients get them, by their numbers."""
    columns = (
        *(Evaluation.id, Evaluation.step, Evaluation.frames, Evaluation.acting, Evaluation.starts, Job.finished_at),
        *(Run.name, Run.algorithm, Run.archived_at, Evaluation.document["interval"].label("interval")),
    )
    query = select(*columns).join(Job, Job.id == Evaluation.job_id).join(Run, Run.id == Evaluation.run_id)
    found: dict[int, schemas.RunScore] = {}
    for first in range(0, len(chosen), PORTION):
        portion = {each.id: each for each in chosen[first : first + PORTION]}
        rows = session.execute(query.where(Evaluation.id.in_(portion)))
        found |= {row.id: _told(portion[row.id], row) for row in rows}
    return found


def _told(found: Found, row: Any) -> schemas.RunScore:
    by = reference(found.env, found.like.protocol)
    return schemas.RunScore(
        evaluation_id=found.id,
        protocol=found.like.protocol,
        run=schemas.ScoredRun(
            id=found.run_id,
            name=row.name,
            algorithm=row.algorithm,
            method=title_of(row.algorithm),
            color=color_of(found.run_id),
            archived=row.archived_at is not None,
        ),
        mean=found.mean,
        interval=row.interval,
        episodes=found.episodes,
        short=found.short,
        step=row.step,
        frames=row.frames,
        start_set=row.starts["name"] if row.starts else None,
        acting=row.acting,
        finished_at=row.finished_at,
        human_normalised=normalised(found.mean, by),
        normalised_by=by if isinstance(by, NormalisedBy) else None,
        not_normalised_because=by if isinstance(by, str) else None,
    )


@cache
def reference(env: str, protocol: str) -> NormalisedBy | str:
    """The random and the human score that a score is normalised by, or why there are none."""
    return normalising.reference(env, protocol)


def normalised(score: float, by: NormalisedBy | str) -> float | None:
    """A score in percent of the human's, if there is a table for it."""
    return normalising.normalised(score, by) if isinstance(by, NormalisedBy) else None
