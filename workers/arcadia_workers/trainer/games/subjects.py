"""Players of an evaluation: the agent of a checkpoint, or the random policy."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import DTypeLike
from pydantic import ValidationError
from torch import Tensor

from arcadia_workers.contract import layout
from arcadia_workers.contract.action_names import ActionSpace, Continuous
from arcadia_workers.contract.config import RunConfig, config_adapter
from arcadia_workers.contract.config.emulator import ActionSet
from arcadia_workers.contract.config.problems import problems_of
from arcadia_workers.contract.events import CheckpointFile
from arcadia_workers.contract.games import ENVIRONMENTS
from arcadia_workers.contract.protocols import EvaluationProtocol
from arcadia_workers.contract.protocols.document import RANDOM, Acting
from arcadia_workers.trainer.errors import TrainerError
from arcadia_workers.trainer.games.emulator import AtariGame
from arcadia_workers.trainer.games.games import GymnasiumGame, PlayableGame
from arcadia_workers.trainer.learning.policies import EpsilonGreedy, policy_over
from arcadia_workers.trainer.methods import TRAINERS
from arcadia_workers.trainer.methods.trainer import Action, NetworkOutput, OutputKind, TrainedNetwork, action_of
from arcadia_workers.trainer.networks.agents import Memory
from arcadia_workers.trainer.run import checkpoints
from arcadia_workers.trainer.run.checkpoints import LoadedCheckpoint

# Chooses an action from the numbers of one episode, a batch of one row.
Choose = Callable[[Tensor], Action]


class ActingError(TrainerError):
    """The agent cannot act in the requested way."""


def check(acting: Acting, output_kind: OutputKind, actions: ActionSpace) -> None:
    """Raise if the agent cannot act in this way. The error names a way that works."""
    if acting.name == "sampled" and output_kind == "values":
        raise ActingError("acting sampled needs a policy, but this method learns action values: use epsilon-greedy")
    if acting.name == "epsilon-greedy" and isinstance(actions, Continuous):
        raise ActingError("acting epsilon-greedy needs discrete actions, and these are continuous: use sampled")


def chooser(acting: Acting, actions: ActionSpace, seed: int, temperature: float = 1.0) -> Choose:
    """Return the function that chooses the actions of one episode. Only sampled actions have a temperature."""
    if acting.name == "random":
        return _uniform(actions, seed)
    if acting.name == "sampled":
        policy = policy_over(actions, torch.Generator().manual_seed(seed))
        return lambda numbers: action_of(policy.sample(numbers, temperature))
    if isinstance(actions, Continuous):
        return lambda numbers: action_of(numbers[:, : actions.size])  # the means; variances come last
    epsilons = np.array([acting.epsilon or 0.0])
    explore = EpsilonGreedy(epsilons, anneal_frames=0, seed=seed, device=torch.device("cpu"))

    def explored(numbers: Tensor) -> Action:
        explore.begin(steps=1, actions=numbers.shape[-1])
        return action_of(explore(numbers, slice(0, 1)))

    return explored


def _uniform(actions: ActionSpace, seed: int) -> Choose:
    random = np.random.default_rng(seed)
    if isinstance(actions, Continuous):
        return lambda _: random.uniform(actions.low, actions.high).astype(np.float32)
    return lambda _: int(random.integers(actions.count))


# The papers' random player acts at 10 Hz, once in six frames (Nair et al. 2015, section 5.2).
FRAMES_OF_A_RANDOM_ACTION = 6


class NoCheckpointError(TrainerError):
    """No checkpoint can be evaluated."""


@dataclass(frozen=True)
class Subject:
    """Player of an evaluation: the network, its environment and its way to act."""

    env: str
    network: TrainedNetwork
    acting: Acting
    open_game: Callable[[], PlayableGame]
    observation_shape: tuple[int, ...]
    observation_type: DTypeLike
    frames_per_action: int
    algorithm: str | None = None
    checkpoint: CheckpointFile | None = None
    # Sentences about how the protocol differs from the training.
    unlike_training: tuple[str, ...] = ()


class NoNetwork:
    """Stand-in for the random policy, which needs no network."""

    output_kind: OutputKind = "policy"

    def initial_memory(self, episodes: int) -> Memory:  # noqa: ARG002
        return ()

    def predict(self, observations: Tensor, memory: Memory) -> tuple[NetworkOutput, Memory]:
        return NetworkOutput(torch.empty(len(observations), 0), torch.zeros(len(observations))), memory


def opener(
    env: str,
    protocol: EvaluationProtocol,
    frames_per_action: int,
    action_set: ActionSet = "minimal",
    *,
    filmed: bool = False,
) -> Callable[[], PlayableGame]:
    """Return the function that opens the games of an evaluation. Filmed games can show their pictures."""
    if ENVIRONMENTS[env].family.simulator == "ale":
        sticky = protocol.repeat_action_probability
        return lambda: AtariGame(env, protocol.cap_frames, frames_per_action, action_set, sticky)
    return lambda: GymnasiumGame(env, filmed=filmed)


def random_subject(env: str, protocol: EvaluationProtocol) -> Subject:
    """Return the random policy as a subject."""
    environment = ENVIRONMENTS[env]
    frames = FRAMES_OF_A_RANDOM_ACTION if environment.family.has_adjustable_frame_skip else environment.frames_per_step
    games = opener(env, protocol, frames, "full" if protocol.full_action_set else "minimal")
    game = games()
    game.close()
    return Subject(env, NoNetwork(), RANDOM, games, game.observation_shape, _type_of(env), frames)


def read(directory: Path, step: int | None) -> tuple[LoadedCheckpoint, RunConfig]:
    """Read a checkpoint, by default the newest, and its configuration."""
    checkpoint = checkpoints.read(checkpoint_path(directory, step))
    try:
        return checkpoint, config_adapter.validate_python(checkpoint.config)
    except ValidationError as error:
        problems = "; ".join(f"{problem.field}: {problem.message}" for problem in problems_of(error))
        raise NoCheckpointError(
            f"{checkpoint.file.file} was made with another version's configuration: {problems}"
        ) from error


def agent_subject(
    checkpoint: LoadedCheckpoint,
    config: RunConfig,
    protocol: EvaluationProtocol,
    acting: Acting | None,
    *,
    filmed: bool = False,
) -> Subject:
    """Return a checkpoint's agent as a subject."""
    frames = config.environment.frames_per_step
    games = opener(config.env, protocol, frames, config.action_set, filmed=filmed)
    game = games()
    game.close()
    network = TRAINERS[config.algorithm].load_network(config, game.observation_shape, game.actions, checkpoint.state)
    acting = acting or config.usual_acting
    check(acting, network.output_kind, game.actions)
    return Subject(
        config.env,
        network,
        acting,
        games,
        game.observation_shape,
        _type_of(config.env),
        frames,
        checkpoint.algorithm,
        checkpoint.file,
    )


def checkpoint_path(directory: Path, step: int | None) -> Path:
    """Return the path of a checkpoint. Raise with the existing steps if it is missing."""
    steps = layout.saved_steps(directory)
    if not steps:
        raise NoCheckpointError(f"{directory} holds no checkpoint: name the directory of a run that has one")
    if step is not None and step not in steps:
        raise NoCheckpointError(f"{directory} has no checkpoint of step {step}; it has {', '.join(map(str, steps))}")
    return directory / layout.checkpoint_file(steps[-1] if step is None else step)


def _type_of(env: str) -> DTypeLike:
    return np.uint8 if ENVIRONMENTS[env].shows_pixels else np.float32
