"""Waiting runs of the installation's own workers: their order, when they start, and a sentence about that."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, cast

from sqlalchemy import ColumnElement, extract, func, literal, select
from sqlalchemy.orm import Session

from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.rights import backend_rights
from arcadia_backend.database.tables import Attempt, Run, Worker
from arcadia_backend.runs.history import RunKind, past_runs, startup_seconds
from arcadia_backend.runs.needs import offers
from arcadia_backend.runs.order import REMEMBERED_HOURS, UNKNOWN_HOURS, Owner, WaitingWork, order, weight
from arcadia_backend.runs.starts import (
    Durations,
    ExpectedStart,
    PastRun,
    Slot,
    forecast_starts,
    measure_slowness,
    on_typical_worker,
    remaining_durations,
    waiting_durations,
)
from arcadia_workers.contract.plugins.discovery import package_names
from arcadia_workers.contract.worker_api import ACTIVE, WORKERS, QueueName

QUEUE_ORDER = (Run.priority.desc(), Run.created_at, Run.id)
# Runs further back in the queue have no forecast.
MAX_PLACED_RUNS = 500
MAX_NAMED_PEOPLE = 3
# A new run in a preview.
NEW_RUN = 0


def _owner(session: Session) -> ColumnElement[Any]:
    """Return the column by which workers are shared."""
    if session.info["fair_share"] == "off":
        return literal(None)
    return cast("ColumnElement[Any]", Run.project_id if session.info["fair_share"] == "projects" else Run.person_id)


def visible_runs(session: Session, queues: Collection[QueueName]) -> set[int]:
    """Return the waiting and active runs of queues that the caller sees."""
    return {*session.scalars(select(Run.id).where(Run.state.in_(("queued", *ACTIVE)), Run.queue.in_(queues)))}


def first_waiting(session: Session, queue: QueueName, conditions: Sequence[ColumnElement[bool]]) -> int | None:
    """Return the id of the first run of the order, or None if no run waits. `conditions` select waiting runs.

    Only the first run of each owner can be the first of all.
    """
    if session.info["fair_share"] == "off":
        return session.scalar(select(Run.id).where(*conditions).order_by(*QUEUE_ORDER).limit(1))
    owner = _owner(session).label("owner")
    place = func.row_number().over(partition_by=owner, order_by=QUEUE_ORDER).label("place")
    rows = select(Run.id, Run.created_at, Run.priority, owner, place).where(*conditions).subquery()
    heads = [
        WaitingWork(row.id, row.created_at.timestamp(), row.priority, row.owner)
        for row in session.execute(select(rows).where(rows.c.place == 1))
    ]
    if len(heads) <= 1:
        return heads[0].id if heads else None
    return order(heads, read_use(session, queue)[0])[0].id


def read_use(session: Session, queue: QueueName) -> tuple[dict[Owner, float], float]:
    """Return the decayed hours that each owner used workers of a queue, and the typical hours of a run.

    Running runs count with their expected hours, so that several free workers do not all go to one owner.
    """
    now, owner = utc_now(), _owner(session)
    seconds = extract("epoch", Attempt.ended_at) - extract("epoch", Attempt.claimed_at)
    day, on_workers = func.date(Attempt.ended_at), (Run.executor == WORKERS, Run.queue == queue)
    ended = (
        select(owner, func.sum(seconds), func.count(), func.avg(extract("epoch", Attempt.ended_at)))
        .join(Attempt, Attempt.run_id == Run.id)
        .where(*on_workers, Attempt.ended_at > now - timedelta(hours=REMEMBERED_HOURS))
        .group_by(*([day] if session.info["fair_share"] == "off" else [owner, day]))
    )
    use: dict[Owner, float] = {}
    total, count = 0.0, 0
    for person, used, runs, when in session.execute(ended):
        hours = max(0.0, float(used)) / 3_600
        total, count = total + hours, count + runs
        use[person] = use.get(person, 0.0) + hours * weight((now.timestamp() - float(when)) / 3_600)
    typical = total / count if count else UNKNOWN_HOURS
    running = select(owner, Attempt.claimed_at, Run.seconds_left).join(Attempt, Attempt.run_id == Run.id)
    running = running.where(*on_workers, Run.state.in_(ACTIVE), Attempt.attempt == Run.attempt)
    for person, since, left in session.execute(running):
        elapsed = max(0.0, (now - since).total_seconds()) / 3_600
        expected = max(elapsed, typical) if left is None else elapsed + left / 3_600
        use[person] = use.get(person, 0.0) + expected
    return use, typical


@dataclass(frozen=True)
class WaitingRuns:
    """The waiting runs of a queue in order, with their starts. It has those of all projects."""

    works: Sequence[WaitingWork]
    starts: dict[int, ExpectedStart]
    # Names of the people, without those that have none.
    people: dict[int, str]
    # Runs whose end is unknown, in the order of the queue. Runs behind them start at an unknown time.
    unmeasured: Sequence[int]
    now: datetime
    places: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Number the runs."""
        self.places.update((work.id, place) for place, work in enumerate(self.works))

    def count_ahead(self, run_id: int) -> int:
        """Return the number of runs ahead of one."""
        return self.places.get(run_id, 0)

    def unknown_reason(self, run_id: int, visible: Collection[int]) -> str:
        """Return a sentence that says why the start of a run is unknown. Only visible runs are named."""
        ahead = [each for each in self.unmeasured if self.places.get(each, -1) < self.places[run_id]]
        if not ahead:
            return f"{self.count_ahead(run_id):,} runs are ahead in the queue."
        named = [each for each in ahead if each in visible]
        name = f"Run {min(named)}" if len(named) == len(ahead) else "A run"
        return f"{name} is ahead, and no run like it has been measured here."

    def describe(self, run_id: int, visible: Collection[int]) -> str:
        """Return sentences that say how many runs are ahead, whose they are, and when a run starts."""
        if run_id not in self.places:  # it was claimed or stopped just now
            return ""
        return " ".join(filter(None, (self._describe_ahead(run_id, visible), self._describe_start(run_id, visible))))

    def _describe_ahead(self, run_id: int, visible: Collection[int]) -> str:
        ahead = self.works[: self.count_ahead(run_id)]
        if not ahead:
            return "It is next."
        text = "1 run is ahead" if len(ahead) == 1 else f"{len(ahead):,} runs are ahead"
        if not self.people:
            return f"{text}."
        names = Counter(self.people.get(work.id) if work.id in visible else None for work in ahead)
        others = names.pop(None, 0)
        named = names.most_common(MAX_NAMED_PEOPLE)
        others += sum(names.values()) - sum(count for _name, count in named)
        parts = [f"{count:,} of {name}" for name, count in named] + ([f"{others:,} of other people"] if others else [])
        return f"{text}: {', '.join(parts)}."

    def _describe_start(self, run_id: int, visible: Collection[int]) -> str:
        start = self.starts.get(run_id)
        if start is None:
            return f"When it starts is unknown: {_inside(self.unknown_reason(run_id, visible))}"
        text = f"If nobody adds work ahead, it starts about {_clock(self.now, start.expected)}"
        if start.by is None:
            return f"{text}. Too few runs like those ahead have ended to say by when."
        return f"{text}, in 9 of 10 cases by {_clock(self.now, start.by)}."


def _clock(now: datetime, seconds: float) -> str:
    return f"{now + timedelta(seconds=seconds):%Y-%m-%d %H:%M} UTC"


def _inside(sentence: str) -> str:
    """Return a sentence as it is written after a colon."""
    return sentence[0].lower() + sentence[1:]


@dataclass(frozen=True)
class NewRun:
    """A run of a preview, which is not in the queue yet."""

    kind: RunKind
    steps: int
    priority: int
    person_id: int | None
    project_id: int | None
    needed_plugins: str = ""
    needs: str = ""


def read_waiting(
    session: Session, queue: QueueName, workers: Sequence[Worker], new: NewRun | None = None
) -> WaitingRuns:
    """Return the waiting runs of a queue, with a new one if there is any. `workers` are those of the queue."""
    with backend_rights(session):
        return _Reader(session, queue, workers).read(new)


class _Reader:
    """Reads the waiting runs of a queue, and the history that their forecasts need."""

    def __init__(self, session: Session, queue: QueueName, workers: Sequence[Worker]) -> None:
        self._session, self._queue, self._workers, self._now = session, queue, workers, utc_now()
        self._past: dict[RunKind, list[PastRun]] = {}
        self._startup: dict[str, float] = {}

    def read(self, new: NewRun | None) -> WaitingRuns:
        use, typical = read_use(self._session, self._queue)
        works, steps, people = self._read_works(typical)
        if new is not None:
            owner = {"people": new.person_id, "projects": new.project_id}.get(self._session.info["fair_share"])
            needs = frozenset((*package_names(new.needed_plugins), *filter(None, [new.needs])))
            works.append(WaitingWork(NEW_RUN, self._now.timestamp(), new.priority, owner, typical, needs))
            steps[NEW_RUN] = (new.kind, new.steps)
        works = order(works, use)
        placed = works[:MAX_PLACED_RUNS]
        texts = frozenset(need for work in works for need in work.needs if need.startswith("{"))
        slots, unmeasured = self._read_slots(texts)
        kinds = {steps[work.id][0] for work in placed}
        slowness = measure_slowness(self._past_of(kind) for kind in kinds)
        durations: dict[int, Durations | None] = {}
        for work in placed:
            kind, count = steps[work.id]
            past = on_typical_worker(self._past_of(kind), slowness)
            durations[work.id] = waiting_durations(past, count, self._startup_of(kind), kind)
        slots = [
            replace(slot, slowness=slowness.get(worker.name, 1.0))
            for slot, worker in zip(slots, self._workers, strict=True)
        ]
        starts = forecast_starts(placed, durations, slots, use)
        unmeasured += [work.id for work in placed if durations[work.id] is None]
        return WaitingRuns(works, starts, people, unmeasured, self._now)

    def _read_works(self, typical: float) -> tuple[list[WaitingWork], dict[int, tuple[RunKind, int]], dict[int, str]]:
        columns = (Run.id, Run.created_at, Run.priority, Run.algorithm, Run.env, Run.step, Run.total_steps)
        owner = _owner(self._session).label("owner")
        query = select(*columns, Run.needed_plugins, Run.needs, Run.launched_by, owner).where(
            Run.state == "queued", Run.queue == self._queue, Run.executor == WORKERS, Run.archived_at.is_(None)
        )
        works: list[WaitingWork] = []
        steps: dict[int, tuple[RunKind, int]] = {}
        people: dict[int, str] = {}
        for row in self._session.execute(query):
            needs = frozenset((*package_names(row.needed_plugins), *filter(None, [row.needs])))
            works.append(WaitingWork(row.id, row.created_at.timestamp(), row.priority, row.owner, typical, needs))
            steps[row.id] = ((row.algorithm, row.env), max(0, (row.total_steps or 0) - row.step))
            if row.launched_by:
                people[row.id] = row.launched_by
        return works, steps, people

    def _read_slots(self, texts: frozenset[str]) -> tuple[list[Slot], list[int]]:
        """Return a slot for each worker, and the running runs whose end is unknown."""
        columns = (Run.id, Run.algorithm, Run.env, Run.step, Run.total_steps, Run.seconds_left, Attempt.claimed_at)
        is_latest = (Attempt.run_id == Run.id) & (Attempt.attempt == Run.attempt)
        query = select(*columns).outerjoin(Attempt, is_latest)
        query = query.where(Run.id.in_([worker.run_id for worker in self._workers if worker.run_id is not None]))
        running = {row.id: row for row in self._session.execute(query)}
        slots: list[Slot] = []
        unmeasured: list[int] = []
        for worker in self._workers:
            working = frozenset(plugin["name"] for plugin in worker.plugins if not plugin["problem"])
            row = running.get(worker.run_id) if worker.run_id is not None else None
            free_in: Durations | None = Durations((0.0,)) if row is None else self._remaining(row)
            if row is not None and free_in is None:
                unmeasured.append(row.id)
            slots.append(Slot(working | offers(worker, self._queue, texts), free_in))
        return slots, unmeasured

    def _remaining(self, row: Any) -> Durations | None:
        """Return how long a running run may take, as it reports or as runs like it took."""
        kind = (row.algorithm, row.env)
        past, left = self._past_of(kind), row.seconds_left
        if left is None:
            return waiting_durations(past, max(0, (row.total_steps or 0) - row.step), self._startup_of(kind))
        elapsed = (self._now - (row.claimed_at or self._now)).total_seconds()
        return remaining_durations(past, max(0.0, elapsed), left)

    def _past_of(self, kind: RunKind) -> list[PastRun]:
        if kind not in self._past:
            self._past[kind] = past_runs(self._session, kind, self._queue)
        return self._past[kind]

    def _startup_of(self, kind: RunKind) -> float:
        if kind[0] not in self._startup:
            self._startup[kind[0]] = startup_seconds(self._session, kind[0]) or 0.0
        return self._startup[kind[0]]
