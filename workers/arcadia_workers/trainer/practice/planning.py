"""The plan of a practice: which mistakes are practiced, and which are kept to measure what practice changes.

The mistakes are split before practice, by episode.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from arcadia_workers.contract import practice as contract
from arcadia_workers.contract.action_names import Continuous
from arcadia_workers.contract.practice import (
    ACTION_SYMBOLS,
    HeldOutEpisode,
    PlannedMoment,
    PracticeConfig,
    PracticedEpisode,
    PracticedMistake,
    PracticeOptions,
    PracticePlan,
)
from arcadia_workers.contract.review import ReviewDocument, ReviewedDecision
from arcadia_workers.trainer.errors import TrainerError
from arcadia_workers.trainer.evaluation.request import RequestError
from arcadia_workers.trainer.futures.simulating import Player, moments
from arcadia_workers.trainer.games import playing
from arcadia_workers.trainer.methods.trainer import Action
from arcadia_workers.trainer.recording.recording import StoppedError

DIGEST_BYTES = 16


class NothingToPracticeError(TrainerError):
    """The reviews show too few mistakes to practice and to measure."""


@dataclass(frozen=True)
class Sight:
    """The observation at a mistake, and the score so far."""

    mean: float
    digest: bytes
    score: float


@dataclass(frozen=True)
class Traced:
    """A reviewed episode that was played again, with its mistakes in order."""

    review: ReviewDocument
    drawn: playing.Draws
    # One character per decision.
    actions: str
    mistakes: Sequence[ReviewedDecision]
    sights: dict[int, Sight]
    # A hash of everything that the agent saw and did.
    play: bytes

    def up_to(self, mistakes: Sequence[ReviewedDecision]) -> PracticedEpisode:
        """Return the episode up to the last of these mistakes."""
        last = mistakes[-1].decision
        sight = self.sights[last]
        return PracticedEpisode(
            seed=self.drawn.emulator_seed,
            noops=self.drawn.noops,
            actions=self.actions[:last],
            mistakes=tuple(each.decision for each in mistakes),
            seen=sight.mean,
            score=sight.score,
        )


def check_review(review: ReviewDocument, player: Player) -> None:
    """Raise if a review is not of this agent."""
    step = player.checkpoint.file.step
    for what, theirs, ours in (
        ("environment", review.env, player.config.env),
        ("checkpoint", review.checkpoint_step, step),
        ("protocol", review.protocol, player.protocol.name),
    ):
        if theirs != ours:
            raise RequestError(
                f"the review of episode {review.episode} has the {what} {theirs}, not {ours}: review the agent that "
                "is to practice"
            )


def trace(player: Player, review: ReviewDocument, stop: Callable[[], bool], actions: Sequence[Action] = ()) -> Traced:
    """Play a reviewed episode again. Recorded actions are taken first."""
    mistakes = contract.mistakes_of(review)
    wanted = {each.decision for each in mistakes}
    taken: list[int] = []
    sights: dict[int, Sight] = {}
    play = blake2b(digest_size=DIGEST_BYTES)
    game = None
    for moment in moments(player.subject, player.protocol, review.seed, review.episode, actions=actions):
        game = moment.game
        if isinstance(game.actions, Continuous) or len(game.action_names) > len(ACTION_SYMBOLS):
            raise RequestError(f"practice needs at most {len(ACTION_SYMBOLS)} discrete actions")
        if stop():
            raise StoppedError("practice was stopped")
        seen, action = game.observation, int(moment.action)
        if moment.decision in wanted:
            digest = blake2b(seen.tobytes(), digest_size=DIGEST_BYTES).digest()
            sights[moment.decision] = Sight(float(seen.mean()), digest, game.score)
        taken.append(action)
        play.update(seen.tobytes() + bytes([action]))
        if len(taken) == review.decisions:
            break  # a recording may be cut here
    if len(taken) < review.decisions or wanted - sights.keys():
        raise RequestError(
            f"episode {review.episode} ends after {len(taken)} decisions here, but {review.decisions} were reviewed: "
            "review it again on this machine"
        )
    if game and any(game.action_names[taken[each.decision]] != each.taken for each in mistakes):
        raise RequestError(f"episode {review.episode} takes other actions here: review it again on this machine")
    drawn = playing.draws(player.protocol, review.seed, review.episode)
    symbols = "".join(ACTION_SYMBOLS[action] for action in taken)
    return Traced(review, drawn, symbols, mistakes, sights, play.digest())


Chosen = list[tuple[Traced, list[ReviewedDecision]]]
"""Some mistakes of some episodes."""


def split(episodes: Sequence[Traced], pairs: int) -> tuple[Chosen, Chosen]:
    """Return the mistakes to practice, and those to keep from it. An episode that repeats another one counts once."""
    distinct: dict[bytes, Traced] = {}
    for each in episodes:
        distinct.setdefault(each.play, each)
    traced = [*distinct.values()]
    try:
        practiced, held_out = contract.split([each.mistakes for each in traced], pairs)
    except contract.TooFewMistakesError as error:
        raise NothingToPracticeError(str(error)) from error
    return [(traced[at], mistakes) for at, mistakes in practiced], [(traced[at], mistakes) for at, mistakes in held_out]


def make_plan(player: Player, options: PracticeOptions, episodes: Sequence[Traced]) -> PracticePlan:
    """Split the mistakes, and decide everything else that practice needs."""
    practiced, held_out = split(episodes, options.pairs)
    trained = player.checkpoint.file.step
    practice = PracticeConfig(
        share=options.share,
        before=options.before,
        repeat_action_probability=player.protocol.repeat_action_probability,
        episodes=tuple(each.up_to(mistakes) for each, mistakes in practiced),
    )
    known = {each.sights[mistake.decision].digest for each, mistakes in practiced for mistake in mistakes}
    return PracticePlan(
        checkpoint_sha256=player.checkpoint.file.sha256,
        checkpoint_step=trained,
        protocol=player.protocol.name,
        options=options,
        steps=options.steps_after(trained),
        horizon=max(each.review.horizon for each in episodes),
        evaluation_seed=max(each.review.seed for each in episodes) + 1,
        practice=practice,
        practiced=[
            PracticedMistake(**described, start=max(0, described["decision"] - options.before))
            for each, mistakes in practiced
            for described in _described(each, mistakes)
        ],
        held_out=[
            PlannedMoment(**described, scale=mistake.scale, was_practiced=sight.digest in known)
            for each, mistakes in held_out
            for described, mistake in zip(_described(each, mistakes), mistakes, strict=True)
            for sight in [each.sights[mistake.decision]]
        ],
        held_out_episodes=[
            HeldOutEpisode(
                seed=each.review.seed, episode=each.review.episode, actions=each.actions[: mistakes[-1].decision]
            )
            for each, mistakes in held_out
        ],
    )


def _described(traced: Traced, mistakes: Sequence[ReviewedDecision]) -> Iterator[dict[str, Any]]:
    for each in mistakes:
        yield {
            "seed": traced.review.seed,
            "episode": traced.review.episode,
            "decision": each.decision,
            "taken": each.taken,
            "better": str(each.better),
        }
