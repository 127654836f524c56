"""Moments: the decisions of an episode, from which futures continue."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from itertools import count

from workers.contract.protocols import EvaluationProtocol
from workers.trainer.games import openings
from workers.trainer.games.games import PlayableGame
from workers.trainer.games.playing import Lane, Seat
from workers.trainer.games.subjects import Subject
from workers.trainer.methods.trained_networks import Action, NetworkOutput
from workers.trainer.networks.agents import Memory


@dataclass(frozen=True)
class Moment:
    """A decision before it is taken.

    `memory` and `output` belong to the agent that acts in the futures. `memory` is from before the observation.
    """

    decision: int
    game: PlayableGame
    memory: Memory
    output: NetworkOutput
    action: Action


def moments(
    subject: Subject,
    protocol: EvaluationProtocol,
    seed: int,
    episode: int,
    *,
    other: Subject | None = None,
    actions: Sequence[Action] = (),
) -> Generator[Moment, None, None]:
    """Play an episode as an evaluation does, and yield each decision.

    Another agent may watch the episode, to continue it. Recorded actions are taken first, instead of the agent's.
    """
    game = subject.open_game()
    lane = Lane(protocol, seed, subject.acting, game, openings.opening(protocol, None))
    seat = Seat(subject, episode)
    watching = Seat(other, episode) if other else seat
    try:
        lane.open(episode)
        for decision in count():
            if game.over:
                return
            memory = watching.memory
            seen = output = seat.predict(game.observation)
            if watching is not seat:
                seen = watching.predict(game.observation)
            action = lane.choose(output.numbers)
            if decision < len(actions):
                action = actions[decision]
            yield Moment(decision, game, memory, seen, action)
            lane.take(action)
    finally:
        game.close()
