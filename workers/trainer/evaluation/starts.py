"""Start points: reading, writing, and cutting them from recorded play."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from pydantic import ValidationError

from workers.contract.protocols import EvaluationProtocol
from workers.contract.protocols.protocol import StartPlayer
from workers.contract.protocols.starts import Held, Start, StartSetFile, before
from workers.trainer.errors import TrainerError
from workers.trainer.games.emulator import EMULATOR, AtariGame
from workers.trainer.games.playing import ActionTrail
from workers.trainer.run import durable_files


class StartsError(TrainerError):
    """A set of start points cannot be used or created."""


def read(path: Path, protocol: EvaluationProtocol, env: str) -> StartSetFile:
    """Read the start set of a protocol for a game."""
    try:
        starts = StartSetFile.model_validate_json(path.read_bytes())
    except OSError as error:
        raise StartsError(f"{path} cannot be read: {error.strerror}") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise StartsError(f"{path} is not a set of start points: {where}: {first['msg']}") from error
    if starts.player != protocol.starts_from:
        raise StartsError(
            f"{path} holds start points of {_whose(starts.player)} play, but {protocol.name} starts from "
            f"{_whose(protocol.starts_from)} play: use {starts.player}-starts"
        )
    if starts.env != env:
        raise StartsError(f"{path} holds start points of {starts.env}, but the game is {env}")
    return starts


def write(path: Path, starts: StartSetFile) -> None:
    """Write a set as JSON."""
    try:
        durable_files.write(path, starts.model_dump_json().encode() + b"\n")
    except OSError as error:
        raise StartsError(f"{path} cannot be written: {error.strerror}") from error


def cut(
    env: str, trails: Sequence[ActionTrail], number: int, seed: int, player: StartPlayer, source: str
) -> StartSetFile:
    """Cut recorded play at random frames, all equally likely, and store the screen's hash at each."""
    # Every frame between a reset and the last one.
    ends = np.cumsum([trail.frames - 1 for trail in trails])
    if not trails or ends[-1] < number:
        raise StartsError(f"the play is too short for {number} start points: record more episodes of {env}")
    moments = np.sort(np.random.default_rng(seed).choice(int(ends[-1]), size=number, replace=False))
    starts: list[Start] = []
    for i, trail in enumerate(trails):
        own = moments[np.searchsorted(ends, moments, side="right") == i]
        starts += _cut_one(env, trail, [int(moment - ends[i] + trail.frames) for moment in own])
    return StartSetFile(env=env, player=player, source=source, emulator=EMULATOR, starts=tuple(starts))


def _cut_one(env: str, trail: ActionTrail, frames: Sequence[int]) -> list[Start]:
    """Replay one trail and return the start points at these frames, in ascending order."""
    game = AtariGame(env, cap_frames=None, frames_per_step=1)
    game.begin(trail.seed)
    starts = []
    for frame in frames:
        actions = before(trail.actions, frame)
        game.hold(after(actions, game.frames))
        starts.append(Start(seed=trail.seed, actions=actions, screen=game.screen_hash()))
    return starts


def after(actions: Sequence[Held], frame: int) -> tuple[Held, ...]:
    """Return the actions from a frame on."""
    kept: list[Held] = []
    for action, frames in actions:
        if frames > frame:
            kept.append((action, frames - max(frame, 0)))
        frame -= frames
    return tuple(kept)


def _whose(player: StartPlayer | None) -> str:
    return {"human": "a person's", "agent": "an agent's", None: "no"}[player]
