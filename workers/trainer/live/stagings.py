"""Setup of a live game."""

import secrets
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from workers.contract.config import RunConfig
from workers.contract.live import OriginOnStage, ReplayOrigin
from workers.contract.protocols import PROTOCOLS, EvaluationProtocol, fitting_protocols
from workers.contract.protocols.starts import CAP_FRAMES, SEEDS
from workers.trainer.futures.experiment import moment_at
from workers.trainer.futures.moments import Moment, moments
from workers.trainer.games import openings
from workers.trainer.games.emulator import AtariGame
from workers.trainer.games.games import PlayableGame
from workers.trainer.games.subjects import agent_subject, opener
from workers.trainer.games.video import drop
from workers.trainer.live.live_agent import LiveAgent
from workers.trainer.recording import repeating
from workers.trainer.run.checkpoints import LoadedCheckpoint


@dataclass(frozen=True)
class Staging:
    """Environment, start of its games by number, and the agent, if any.

    With an origin, games begin at a decision of a replay and wait there for a person.
    """

    env: str
    game: PlayableGame
    open: Callable[[int], None]
    agent: LiveAgent | None
    origin: OriginOnStage | None = None
    # Held because it closes the game when it is collected.
    episode: Iterable[Moment] = ()


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


def of_replay(
    checkpoint: LoadedCheckpoint,
    config: RunConfig,
    origin: ReplayOrigin,
    should_stop: Callable[[], bool] = lambda: False,
) -> Staging:
    """Return the setup for a person who continues a replay, whose agent watches and can play."""
    protocol = PROTOCOLS[origin.protocol]
    subject = agent_subject(checkpoint, config, protocol, None, filmed=True)
    episode = moments(subject, protocol, origin.seed, origin.episode, actions=origin.actions)
    moment = moment_at(_without_pictures(episode), origin.decision, should_stop)
    game = moment.game
    repeating.check_score(game, origin.score, when=" before the decision")
    agent = LiveAgent(checkpoint, config, game)

    def open_game(number: int) -> None:
        if number > 1:
            game.show(drop)
            repeating.begin(game, protocol, origin.seed, origin.episode)
            for action in origin.actions:
                game.step(action)
        agent.remember(moment.memory)

    where = OriginOnStage(decision=origin.decision, score=game.score, frames=game.frames)
    return Staging(config.env, game, open_game, agent, where, episode)


def _without_pictures(episode: Iterable[Moment]) -> Iterator[Moment]:
    """Yield the moments of an episode, and drop its pictures, which would fill the memory."""
    for moment in episode:
        if moment.decision == 0:
            moment.game.show(drop)
        yield moment


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
