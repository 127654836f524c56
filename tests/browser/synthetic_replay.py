"""Upload of a synthetic replay whose pictures show their numbers, with the network's input and a track."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcadia_workers.contract import tracks
from arcadia_workers.contract.archives import Column
from arcadia_workers.contract.protocols.document import SAMPLED
from arcadia_workers.contract.tracks import Saliency, SaliencyHead, Track, TrackHead, packed
from arcadia_workers.trainer.games.video import VideoWriter, write_png
from tests.factories import Api, sha256, video, weights

ACTIONS = ("NOOP", "FIRE", "RIGHT", "LEFT")
DECISIONS, FRAMES_PER_ACTION, PICTURES_PER_SECOND, SCALE = 40, 4, 20, 4
PICTURES = DECISIONS * FRAMES_PER_ACTION
# The first row of a picture shows its number in binary, as bright and dark squares of this size.
BITS, SQUARE = 8, 8
WON, LOST, LIFE_LOST = 10, 25, 30
# Grid size of the synthetic saliency, and the only places that affect the policy and the value.
PLACES, FOR_POLICY, FOR_VALUE = 17, (4, 3), (12, 9)


def numbered(number: int) -> NDArray[np.uint8]:
    """Draw a picture that shows its number in bits, and a block that moves."""
    frame = np.full((48, 64, 3), 20, np.uint8)
    for bit in range(BITS):
        if number >> bit & 1:
            frame[:SQUARE, bit * SQUARE : (bit + 1) * SQUARE] = 230
    left = number % 56
    frame[24:32, left : left + 8] = (86, 180, 233)
    return frame


def synthetic_track(step: int, played_by: str) -> Track:
    """Return a synthetic track in which the agent wins, loses and loses a life at known decisions."""
    at = np.arange(DECISIONS)
    reward = np.zeros(DECISIONS)
    reward[WON], reward[LOST] = 1, -1
    obtained = sum(np.where(at <= when, reward[when] * 0.99 ** (when - at), 0) for when in (WON, LOST))
    numbers = np.tile(np.array([0.1, 0.2, 0.3, 0.4], np.float32), (DECISIONS, 1))
    head = TrackHead(
        env="CartPole-v1",
        algorithm="paac",
        checkpoint_step=step,
        checkpoint_sha256=played_by,
        protocol="episodes",
        acting=SAMPLED,
        seed=1,
        episode=0,
        gamma=0.99,
        clip_rewards=True,
        life_loss_ends_episode=False,
        numbers_kind="policy",
        action_names=ACTIONS,
        pictures=PICTURES,
        pictures_per_second=PICTURES_PER_SECOND,
        frames_per_action=FRAMES_PER_ACTION,
        ended="over",
        score=0.0,
    )
    columns = {
        "picture": at * FRAMES_PER_ACTION,
        "action": at % len(ACTIONS),
        "numbers": numbers,
        "value": 0.3 * np.sin(at / 5),
        "obtained": obtained,
        "reward": reward,
        "score": np.concatenate([[0], reward.cumsum()[:-1]]),
        "lives": np.where(at <= LIFE_LOST, 3, 2),
        "life_lost": at == LIFE_LOST,
    }
    return Track(head, columns)


def synthetic_saliency(step: int, played_by: str) -> bytes:
    """Return a synthetic saliency file with one place for the policy and another for the value."""
    head = SaliencyHead(
        env="ALE/Pong-v5",
        algorithm="paac",
        checkpoint_step=step,
        checkpoint_sha256=played_by,
        numbers_kind="policy",
        side=84,
        first=2,
        spacing=5,
        sigma=5,
        blur_sigma=3,
    )
    columns: dict[str, Column] = {}
    for name, (row, column) in (("policy", FOR_POLICY), ("value", FOR_VALUE)):
        columns[name] = np.zeros((DECISIONS, PLACES, PLACES), np.uint8)
        columns[name][:, row, column] = 255
        columns[f"{name}_peak"] = np.ones(DECISIONS, np.float32)
    return tracks.packed_saliency(Saliency(head, columns))


def report_replay(api: Api, run: tuple[int, int], seq: int, step: int, folder: Path) -> None:
    """Upload a replay of a saved checkpoint with all its files and report it."""
    film, poster = folder / f"{step}.mp4", folder / f"{step}.png"
    seen, track = folder / f"{step}.seen.mp4", folder / f"{step}.npz"
    frames = [numbered(number) for number in range(PICTURES)]
    _write(film, frames, SCALE)
    _write(seen, [frame[::-1, ::-1] for frame in frames], 1)
    write_png(poster, frames[-1], SCALE)
    track.write_bytes(packed(synthetic_track(step, sha256(weights(run[1], step)))))
    for path, kind in ((film, "video"), (poster, "poster"), (seen, "video"), (track, "track")):
        api.upload(*run, f"replays/{path.name}", path.read_bytes(), kind)
    files: dict[str, Any] = {"seen": f"replays/{seen.name}", "track": f"replays/{track.name}"}
    facts = {"length": DECISIONS, "seconds": PICTURES / PICTURES_PER_SECOND}
    assert api.send(*run, video(seq, step, step, **files, **facts)).is_success


def _write(path: Path, frames: list[NDArray[np.uint8]], scale: int) -> None:
    with VideoWriter(path, PICTURES_PER_SECOND, scale) as writer:
        for frame in frames:
            writer.add(frame)
