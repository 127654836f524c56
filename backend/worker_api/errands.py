"""Errands in the hands of workers: claimed by one conditional update, guarded by the attempt, as runs are."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from backend.checkpoints.thinning import settle
from backend.config import Settings
from backend.database.tables import Checkpoint, Errand, Run
from backend.errands import service
from backend.errands.queue import ORDER
from backend.evaluations.schedule import catch_up
from backend.evaluations.service import discard_result, has_result, keep_episode, keep_result
from backend.evaluations.starting import offered_starts
from backend.kept_games import service as kept_games
from backend.replays.service import discard_recording, has_recording, keep_recording
from backend.saliency import service as saliency
from backend.web.lookup import find_errand
from backend.worker_api.attempts import StaleAttempt, identity, offered
from backend.worker_api.claiming import claim_first
from backend.worker_api.sequence import moment, new_events
from workers.contract import events as ev
from workers.contract.worker_api import ErrandClaim, ErrandKind, EventBatch, Outcome, Release


def claim(session: Session, settings: Settings, worker: str) -> ErrandClaim | None:
    """Hand the first errand in the line to a worker; None when none waits."""
    # Nothing of the attempt before is left.
    fresh = {"state": "running", "last_seq": 0, "done": 0, "outcome": None, "message": None, "traceback": None}
    claimed = claim_first(session, settings, Errand, (Errand.state == "queued",), ORDER, worker, fresh)
    if claimed is None:
        return None
    errand = session.get_one(Errand, claimed)
    service.delete_errand_files(session, errand)
    _BRINGING[errand.kind].discard(session, errand)
    service.announce(session, errand)
    return ErrandClaim(
        errand_id=errand.id,
        attempt=errand.attempt,
        kind=errand.kind,
        parameters=errand.parameters,
        lease_seconds=settings.lease_seconds,
        checkpoint=offered(session.get_one(Checkpoint, errand.checkpoint_id)) if errand.checkpoint_id else None,
        starts=offered_starts(session, errand),
        installation=identity(session),
    )


def current_errand(session: Session, errand_id: int, attempt: int, *, lock: bool = False) -> Errand:
    """Return the errand if this attempt is active or may continue. A locked errand is active afterwards.

    Its run is locked first.
    """
    errand = find_errand(session, errand_id, lock=lock)
    if not is_current(errand, attempt):
        raise _stale(errand, attempt)
    if lock:
        continue_if_silent(session, errand)
    return errand


def is_current(errand: Errand, attempt: int) -> bool:
    """Return True if an attempt is active, or if it fell silent and no other began."""
    return errand.attempt == attempt and (errand.state == "running" or _may_continue(errand))


def _may_continue(errand: Errand) -> bool:
    return errand.state == "queued" and errand.lease_expires_at is not None


def continue_if_silent(session: Session, errand: Errand) -> None:
    """Give an errand back to the worker that fell silent and still does it."""
    if _may_continue(errand):
        errand.state, errand.outcome, errand.message = "running", None, None
        service.announce(session, errand)


def ingest(session: Session, errand_id: int, batch: EventBatch) -> int:
    """Store the new events of a batch. Return the number of the last one stored."""
    errand = current_errand(session, errand_id, batch.attempt, lock=True)
    handlers = _OF_ALL | _BRINGING[errand.kind].handlers
    for event in new_events(batch.events, errand.last_seq, handlers):
        handlers[type(event)](session, errand, event)
        errand.last_seq = event.seq
    service.announce(session, errand)
    return errand.last_seq


def release(session: Session, settings: Settings, errand_id: int, ended: Release) -> Errand:
    """Take an errand back from its worker; a repeated call changes nothing."""
    errand = find_errand(session, errand_id, lock=True)
    if errand.attempt != ended.attempt:
        raise _stale(errand, ended.attempt)
    continue_if_silent(session, errand)
    if errand.state == "running":
        errand.traceback = ended.traceback or errand.traceback
        conclude(session, settings, errand, ended.outcome, ended.message)
    return errand


def lose(session: Session, settings: Settings, errand: Errand) -> None:
    """End the attempt of a silent worker. Keep its lease as the mark that the worker may still continue it."""
    worker, lease = errand.worker, errand.lease_expires_at
    conclude(session, settings, errand, "lost")
    if errand.state == "queued":
        errand.worker, errand.lease_expires_at = worker, lease


def conclude(
    session: Session, settings: Settings, errand: Errand, outcome: Outcome, message: str | None = None
) -> None:
    """End the active attempt; its outcome and the user's wish decide the errand's next state."""
    if outcome == "lost" and errand.outcome is not None:
        # Its process had reported its end before its worker was lost.
        outcome = errand.outcome
    if outcome == "finished" and not _BRINGING[errand.kind].has_brought(session, errand):
        service.end(session, errand, "failed", errand.message or "Its process ended without a result.")
    elif outcome == "finished":
        service.end(session, errand, "done")
    elif outcome == "failed":
        service.end(session, errand, "failed", message or errand.message or "It failed without an error message.")
    elif errand.desired == "cancel":
        service.end(session, errand, "cancelled")
    elif outcome == "lost":
        _again_or_give_up(session, settings, errand, message or f"Worker {errand.worker} fell silent.")
    else:
        service.end(session, errand, "queued", message or f"Worker {errand.worker} was shut down.")
    if errand.run_id is not None:
        run = session.get_one(Run, errand.run_id)
        # What it evaluated may be the best now, and what waited for it may go.
        settle(session, run)
        catch_up(session, run)


def _again_or_give_up(session: Session, settings: Settings, errand: Errand, reason: str) -> None:
    if errand.tries >= settings.max_requeues:
        told = f"{reason} That was once too often: it has been tried again {errand.tries} times already."
        service.end(session, errand, "failed", told)
        return
    errand.tries += 1
    again = f"{reason} Back in the queue, {errand.tries} of at most {settings.max_requeues} times."
    service.end(session, errand, "queued", again)


def _stale(errand: Errand, attempt: int) -> StaleAttempt:
    return StaleAttempt(
        f"Attempt {attempt} of errand {errand.id} is over; the errand is {errand.state} at attempt {errand.attempt}. "
        "Stop its process."
    )


def _start(_session: Session, errand: Errand, event: ev.Started) -> None:
    errand.started_at = moment(event.time)


def _log(_session: Session, errand: Errand, event: ev.Log) -> None:
    if event.level != "info":
        errand.message = event.message


def _end(_session: Session, errand: Errand, event: ev.Stopped | ev.Finished | ev.Failed) -> None:
    """Keep how the process ended. The errand changes state when its worker gives it back or falls silent."""
    errand.outcome = event.kind
    if isinstance(event, ev.Failed):
        errand.message, errand.traceback = event.message, event.traceback or None


_Handlers = dict[type[ev.Event], Callable[[Session, Errand, Any], None]]


@dataclass(frozen=True)
class _Bringing:
    """What a kind of errand brings: by which events, whether it has, and how an earlier attempt's is forgotten."""

    handlers: _Handlers
    has_brought: Callable[[Session, Errand], bool]
    discard: Callable[[Session, Errand], None]


# Nothing is kept of a live game.
_NOTHING = _Bringing({}, lambda _session, _errand: True, lambda _session, _errand: None)

_BRINGING: dict[ErrandKind, _Bringing] = {
    "evaluation": _Bringing(
        {ev.EvaluatedEpisode: keep_episode, ev.Evaluation: keep_result}, has_result, discard_result
    ),
    "live": _NOTHING,
    "play": _Bringing({ev.GameKept: kept_games.keep}, lambda _session, _errand: True, lambda _session, _errand: None),
    "film": _Bringing(
        {ev.Advanced: saliency.advance, ev.Film: kept_games.keep_film}, kept_games.has_film, kept_games.discard_film
    ),
    "recording": _Bringing({ev.Video: keep_recording}, has_recording, discard_recording),
    "saliency": _Bringing(
        {ev.Advanced: saliency.advance, ev.Saliency: saliency.keep},
        saliency.has_arrived,
        # What an earlier attempt brought is its file alone.
        lambda _session, _errand: None,
    ),
}

_OF_ALL: _Handlers = {
    ev.Started: _start,
    ev.Log: _log,
    ev.Stopped: _end,
    ev.Finished: _end,
    ev.Failed: _end,
}
