"""Tracks of replays, and the checkpoints that played them."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.database.tables import Checkpoint, Replay, Run
from backend.errors import Conflict, FieldError, Invalid
from backend.files.service import files_root
from backend.files.storage import stored_path
from backend.replays.service import find_track
from workers.contract import tracks
from workers.contract.config.emulator import ActionSet
from workers.contract.tracks import Track


def read_track(session: Session, replay: Replay) -> Track:
    """Read the track of a replay. Raise Conflict if its file is damaged."""
    file = find_track(session, replay.id)
    try:
        return tracks.read(stored_path(files_root(session), file.stored_path))
    except tracks.TrackError as error:
        raise Conflict(f"The track file of this replay cannot be read: {error}") from error


def check_decision(track: Track, decision: int) -> None:
    """Raise Invalid if the replay does not have the decision."""
    if decision >= len(track):
        message = f"the replay has {len(track)} decisions, so choose 0 to {len(track) - 1}"
        raise Invalid(FieldError(field="decision", message=message))


def action_set(run: Run) -> ActionSet:
    """Return the set of actions that a run's agent chooses from."""
    # Imported agents of other libraries have no action set in their configuration.
    found: ActionSet = run.config.get("action_set") or "minimal"
    return found


def find_player(session: Session, run: Run, track: Track, needed_by: str) -> Checkpoint:
    """Return the checkpoint that played a replay. The caller holds the run's lock, which protects it."""
    played = Checkpoint.sha256 == track.head.checkpoint_sha256
    query = select(Checkpoint).where(Checkpoint.run_id == run.id, Checkpoint.file_id.is_not(None), played)
    found = session.scalar(query.limit(1))
    if found is None:
        raise Conflict(
            f"{needed_by} the checkpoint at step {track.head.checkpoint_step}, which was deleted. "
            "Choose a replay of a kept checkpoint. Pinned checkpoints are never deleted automatically."
        )
    return found
