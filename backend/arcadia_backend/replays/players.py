"""Tracks of replays, the checkpoints that played them, and what can be done with a replay now.

Requests and the buttons of pages use the same rules.
"""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from sqlalchemy import select
from sqlalchemy.orm import Session

from arcadia_backend.database.tables import Checkpoint, File, Replay, Run
from arcadia_backend.errors import Conflict, FieldError, Invalid
from arcadia_backend.files.service import files_root
from arcadia_backend.files.storage import stored_path
from arcadia_backend.projects.service import why_not_editable
from arcadia_backend.replays import service
from arcadia_backend.replays.service import find_track
from arcadia_backend.web.lookup import why_no_agent
from arcadia_workers.contract import tracks
from arcadia_workers.contract.config.emulator import ActionSet
from arcadia_workers.contract.games import ENVIRONMENTS
from arcadia_workers.contract.live import are_playable
from arcadia_workers.contract.protocols import PROTOCOLS
from arcadia_workers.contract.tracks import Track, TrackHead

CACHED_HEADS = 2_000


def read_track(session: Session, replay: Replay) -> Track:
    """Read the track of a replay. Raise Conflict if its file is damaged."""
    file = find_track(session, replay.id)
    try:
        track = tracks.read(stored_path(files_root(session), file.stored_path))
    except tracks.TrackError as error:
        raise Conflict(f"The track file of this replay cannot be read: {error}") from error
    refuse(_why_unknown(track.head))
    return track


def episode_of(track: Track, decisions: int | None = None) -> dict[str, Any]:
    """Return what repeats the episode of a track, with its actions before a decision if given, for a job."""
    episode = {name: getattr(track.head, name) for name in ("protocol", "seed", "episode")}
    return episode | {"actions": track.columns["action"][:decisions].tolist()}


def _why_unknown(head: TrackHead) -> str | None:
    """Return why this installation does not know the environment or protocol of a track. A file may name any."""
    if head.env not in ENVIRONMENTS:
        return f"The track of this replay is of the environment {head.env}, which is not known here."
    if head.protocol not in PROTOCOLS:
        return f"The track of this replay has the protocol {head.protocol}, which is not known here."
    return None


def check_decision(track: Track, decision: int) -> None:
    """Raise Invalid if the replay does not have the decision."""
    if decision >= len(track):
        message = f"the replay has {len(track)} decisions, so choose 0 to {len(track) - 1}"
        raise Invalid(FieldError(field="decision", message=message))


def action_set(run: Run) -> ActionSet:
    """Return the set of actions that a run's agent chooses from."""
    # Imported agents of other libraries have no action set in their configuration.
    actions: ActionSet = run.config.get("action_set") or "minimal"
    return actions


def find_player(session: Session, run: Run, track: Track) -> Checkpoint:
    """Return the checkpoint that played a replay. The caller holds the run's lock, which protects it."""
    played = Checkpoint.sha256 == track.head.checkpoint_sha256
    query = select(Checkpoint).where(Checkpoint.run_id == run.id, Checkpoint.file_id.is_not(None), played)
    player = session.scalar(query.limit(1))
    if player is None:
        raise Conflict(_player_deleted(track.head))
    return player


def refuse(reason: str | None) -> None:
    """Raise Conflict with a reason, if there is one."""
    if reason is not None:
        raise Conflict(reason)


def why_person_cannot_play(head: TrackHead) -> str | None:
    """Return why a person cannot continue a replay, apart from its checkpoint."""
    if head.numbers_kind == "gaussian":
        return f"A person cannot play {_title(head)}, because its actions are numbers."
    if not are_playable(head.action_names):
        return f"A person cannot play {_title(head)}, because no keys control its actions."
    return None


def why_no_saliency(env: str) -> str | None:
    """Return why agents of an environment have no saliency."""
    return None if ENVIRONMENTS[env].shows_pixels else f"Agents of {env} do not see pictures, so they have no saliency."


def why_no_start_points(head: TrackHead) -> str | None:
    """Return why the decisions of a replay cannot be start points."""
    if not ENVIRONMENTS[head.env].family.has_start_points:
        return f"Episodes of {_title(head)} cannot begin at start points, only Atari games."
    if head.numbers_kind == "gaussian":
        return "Start points need a replay with discrete actions. Choose another one."
    protocol = PROTOCOLS[head.protocol]
    if protocol.repeat_action_probability:
        return (
            f"The emulator repeated actions at random in this replay ({protocol.name}), so its actions do not lead to "
            "the same screens from a start point. Choose a replay without sticky actions."
        )
    return None


def with_actions(session: Session, run: Run, replays: Sequence[Replay]) -> list[service.Replay]:
    """Return replays of a run as the API shows them, with the actions that are possible now."""
    kept = select(Checkpoint.sha256).where(Checkpoint.run_id == run.id, Checkpoint.file_id.is_not(None))
    hashes = set(session.scalars(kept))
    track_ids = [replay.track_file_id for replay in replays if replay.track_file_id is not None]
    tracks_of = {file.id: file for file in session.scalars(select(File).where(File.id.in_(track_ids)))}
    root = files_root(session)

    def actions(replay: Replay) -> service.ReplayActions:
        if (reason := why_not_editable(run.project_id)) is not None:
            return _none_because(reason, edit=reason)
        if (clause := why_no_agent(run)) is not None:
            return _none_because(f"Its agent cannot play here, because {clause}.")
        file = tracks_of.get(replay.track_file_id or 0)
        if file is None:
            return _none_because("This replay has no track: an older version recorded it, or its archive left it out.")
        try:
            head = _read_head(stored_path(root, file.stored_path), file.sha256)
        except (tracks.TrackError, ValidationError):
            return _none_because("The track of this replay cannot be read.")
        if (unknown := _why_unknown(head)) is not None:
            return _none_because(unknown)
        deleted = None if head.checkpoint_sha256 in hashes else _player_deleted(head)
        return service.ReplayActions(
            simulate=deleted,
            play=why_person_cannot_play(head) or deleted,
            saliency=why_no_saliency(run.env) or deleted,
            start_points=why_no_start_points(head),
            edit=None,
        )

    columns = [name for name in service.Replay.model_fields if name != "actions"]
    return [
        service.Replay.model_validate({name: getattr(replay, name) for name in columns} | {"actions": actions(replay)})
        for replay in replays
    ]


def _none_because(reason: str, *, edit: str | None = None) -> service.ReplayActions:
    return service.ReplayActions(simulate=reason, play=reason, saliency=reason, start_points=reason, edit=edit)


@lru_cache(maxsize=CACHED_HEADS)
def _read_head(path: Path, _sha256: str) -> TrackHead:
    """Return the head of a track. The hash is part of the key, since a path is reused. Failures are not cached."""
    return tracks.read_head(path)


def _player_deleted(head: TrackHead) -> str:
    return (
        f"This needs the checkpoint at step {head.checkpoint_step:,}, which was deleted. Choose a replay of a kept "
        "checkpoint. Pinned checkpoints are never deleted automatically."
    )


def _title(head: TrackHead) -> str:
    return ENVIRONMENTS[head.env].title
