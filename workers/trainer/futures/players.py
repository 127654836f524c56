"""Agents that play an episode and its futures."""

from dataclasses import dataclass
from pathlib import Path

from workers.contract.config import RunConfig
from workers.contract.config.evaluation import protocol_of
from workers.contract.games import ENVIRONMENTS
from workers.contract.protocols import PROTOCOLS, EvaluationProtocol
from workers.trainer.evaluation.request import RequestError, check_fit
from workers.trainer.games import subjects
from workers.trainer.games.subjects import Subject
from workers.trainer.run.checkpoints import LoadedCheckpoint


@dataclass(frozen=True)
class Player:
    """The agent of a checkpoint, with the configuration of its training."""

    checkpoint: LoadedCheckpoint
    config: RunConfig
    protocol: EvaluationProtocol
    subject: Subject


def load(directory: Path, step: int | None, protocol_name: str | None) -> Player:
    """Load a checkpoint's agent, by default with the protocol of its run."""
    checkpoint, config = subjects.read(directory, step)
    protocol = PROTOCOLS[protocol_name or protocol_of(config.model_dump())]
    check_fit(protocol, config.env, saves_starts=False)
    return _player(checkpoint, config, protocol)


def load_other(directory: Path, step: int | None, player: Player) -> Player:
    """Load another agent that can continue a player's episodes."""
    checkpoint, config = subjects.read(directory, step)
    if config.env != player.config.env:
        titles = [f"{ENVIRONMENTS[env].title} ({env})" for env in (config.env, player.config.env)]
        raise RequestError(f"the agent in {directory} plays {titles[0]}, not {titles[1]}: name one of the same game")
    if config.action_set != player.config.action_set:
        raise RequestError(
            f"the agent in {directory} uses the {config.action_set} action set, not the {player.config.action_set} "
            "one: name an agent with the same actions"
        )
    return _player(checkpoint, config, player.protocol)


def _player(checkpoint: LoadedCheckpoint, config: RunConfig, protocol: EvaluationProtocol) -> Player:
    return Player(checkpoint, config, protocol, subjects.agent_subject(checkpoint, config, protocol, None))
