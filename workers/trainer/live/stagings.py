"""Setup of a live game."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass

from workers.contract.config import RunConfig
from workers.contract.protocols import PROTOCOLS, EvaluationProtocol, fitting_protocols
from workers.contract.protocols.starts import CAP_FRAMES, SEEDS
from workers.trainer.games import openings
from workers.trainer.games.emulator import AtariGame
from workers.trainer.games.games import PlayableGame
from workers.trainer.games.subjects import opener
from workers.trainer.live.live_agent import LiveAgent
from workers.trainer.run.checkpoints import LoadedCheckpoint


@dataclass(frozen=True)
class Staging:
    """Environment, start of its games by number, and the agent, if any."""

    env: str
    game: PlayableGame
    open: Callable[[int], None]
    agent: LiveAgent | None


def of_agent(checkpoint: LoadedCheckpoint, config: RunConfig) -> Staging:
    """Return the setup for a checkpoint's agent, with the starts and ends of its longest evaluation."""
    protocol = protocol_of(config)
    frames = config.environment.frames_per_step
    game = opener(config.env, protocol, frames, config.action_set, filmed=True)()
    begin = openings.opening(protocol, None)

    def open_game(number: int) -> None:
        begin(game, number, openings.draws(protocol, secrets.randbelow(SEEDS), number))

    return Staging(config.env, game, open_game, LiveAgent(checkpoint, config, game))


def of_people(env: str) -> Staging:
    """Return the setup for people: an Atari game from its reset, with the protocols' time limit."""
    game = AtariGame(env, CAP_FRAMES, frames_per_step=1)
    return Staging(env, game, lambda _number: game.begin(secrets.randbelow(SEEDS)), None)


def protocol_of(config: RunConfig) -> EvaluationProtocol:
    """Return the protocol of a live game: the longest evaluation without start points.

    Prefer a protocol that repeats actions with the same probability as training.
    """
    fitting = [PROTOCOLS[name] for name in fitting_protocols(config.environment.family)]
    repeats = config.repeat_action_probability
    return max(
        (each for each in fitting if each.opening != "starts"),
        key=lambda each: (each.repeat_action_probability == repeats, each.cap_frames or 0),
    )
