"""Agent of a live game, which switches to newer checkpoints while it plays, and how the game is set up."""

import json
import secrets
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import softplus

from arcadia_workers.contract import layout
from arcadia_workers.contract.action_names import ActionSpace, Continuous
from arcadia_workers.contract.config import RunConfig
from arcadia_workers.contract.events import CheckpointFile
from arcadia_workers.contract.live import AgentOnStage, OriginOnStage, ReplayOrigin
from arcadia_workers.contract.protocols import PROTOCOLS, EvaluationProtocol, fitting_protocols
from arcadia_workers.contract.protocols.document import Acting
from arcadia_workers.contract.protocols.starts import CAP_FRAMES, SEEDS
from arcadia_workers.trainer.futures.experiment import moment_at
from arcadia_workers.trainer.futures.simulating import Moment, moments
from arcadia_workers.trainer.games import playing
from arcadia_workers.trainer.games.emulator import AtariGame
from arcadia_workers.trainer.games.games import PlayableGame
from arcadia_workers.trainer.games.subjects import agent_subject, opener
from arcadia_workers.trainer.games.video import drop
from arcadia_workers.trainer.methods import TRAINERS
from arcadia_workers.trainer.methods.trainer import Action, action_of
from arcadia_workers.trainer.networks.agents import Memory
from arcadia_workers.trainer.recording import retracing
from arcadia_workers.trainer.recording.recording import displayed_numbers, kind_of_numbers
from arcadia_workers.trainer.run import checkpoints
from arcadia_workers.trainer.run.checkpoints import CheckpointError, LoadedCheckpoint

TORCH_SEEDS = 2**31

# The meaning of a temperature between 0 and 1. policy: π to the power of its inverse. random: the share of random
# actions. noise: the share of the policy's standard deviation.
Sampled = Literal["policy", "random", "noise"]

DecisionDetails = dict[str, object]
"""Details sent with the picture of a decision: action, value and the network's numbers."""


class LiveAgent:
    """Agent that chooses the actions of a live game with a checkpoint's network."""

    def __init__(self, checkpoint: LoadedCheckpoint, config: RunConfig, game: PlayableGame) -> None:
        self._config, self._shape, self.actions = config, game.observation_shape, game.actions
        self.temperature = usual_temperature(config.usual_acting)
        self._random = torch.Generator().manual_seed(secrets.randbelow(TORCH_SEEDS))
        self._loaded = 0
        self.load(checkpoint)

    def load(self, checkpoint: LoadedCheckpoint) -> None:
        """Switch to another checkpoint's network."""
        self._network = TRAINERS[self._config.algorithm].load_network(
            self._config, self._shape, self.actions, checkpoint.state
        )
        self._numbers = kind_of_numbers(self._network.output_kind, self.actions)
        self._file, self._algorithm = checkpoint.file, checkpoint.algorithm
        self._loaded += 1
        self.forget()

    def forget(self) -> None:
        """Clear the memory before another episode."""
        self._memory = self._network.initial_memory(1)

    def remember(self, memory: Memory) -> None:
        """Continue an episode with the memory of its decisions so far."""
        self._memory = tuple((h.clone(), c.clone()) for h, c in memory)

    def watch(self, game: PlayableGame) -> DecisionDetails:
        """See the current observation while a person chooses the action."""
        return self.decide(game)[1] | {"action": None}

    def decide(self, game: PlayableGame) -> tuple[Action, DecisionDetails]:
        """Choose an action for the current observation."""
        seen = torch.from_numpy(np.ascontiguousarray(game.observation)[None])
        output, self._memory = self._network.predict(seen, self._memory)
        action = choose(output.numbers, self.sampled, self.actions, self.temperature, self._random)
        numbers = displayed_numbers(output.numbers[0], self._network.output_kind, self.actions)
        return action, {
            "action": action if isinstance(action, int) else [round(float(each), 4) for each in action],
            "value": round(float(output.values[0]), 4),
            "numbers": [round(float(each), 4) for each in numbers],
        }

    def on_stage(self) -> AgentOnStage:
        """Return the agent's current settings."""
        return AgentOnStage(
            algorithm=self._algorithm,
            numbers_kind=self._numbers,
            step=self._file.step,
            frames=self._file.frames,
            loaded=self._loaded,
            temperature=self.temperature,
            sampled=self.sampled,
        )

    @property
    def sampled(self) -> Sampled:
        """The meaning of the temperature."""
        if isinstance(self.actions, Continuous):
            return "noise"
        return "policy" if self._network.output_kind == "policy" else "random"


def usual_temperature(acting: Acting) -> float:
    """Return the temperature at which an agent acts as in an evaluation."""
    return {"sampled": 1.0, "greedy": 0.0}.get(acting.name, acting.epsilon or 0.0)


def choose(
    numbers: Tensor, sampled: Sampled, actions: ActionSpace, temperature: float, random: torch.Generator
) -> Action:
    """Choose an action from the network's numbers. Temperature 0 is greedy."""
    if isinstance(actions, Continuous):
        mean, variance = numbers[:, : actions.size], softplus(numbers[:, actions.size :])
        noise = torch.randn(mean.shape, generator=random)
        return action_of(mean + temperature * variance.sqrt() * noise)
    if sampled == "random":
        if torch.rand((), generator=random) < temperature:
            return int(torch.randint(actions.count, (), generator=random))
    elif temperature > 0:
        odds = torch.softmax(numbers / temperature, dim=-1)
        return int(torch.multinomial(odds, 1, generator=random))
    return int(numbers.argmax(dim=-1))


class CheckpointReceiver:
    """Receiver that assembles a newer checkpoint from its parts."""

    def __init__(self, directory: Path, then: Callable[[LoadedCheckpoint], None]) -> None:
        self._directory, self._then = directory, then
        self._file: CheckpointFile | None = None

    def begin(self, file: CheckpointFile) -> None:
        """Start receiving a checkpoint."""
        self._file, self._content = file, bytearray()

    def take(self, part: bytes) -> None:
        """Add a part. The last one completes the checkpoint."""
        if self._file is None:
            return  # the start of this checkpoint was lost with the connection
        self._content += part
        if len(self._content) < self._file.bytes:
            return
        path = self._directory / layout.checkpoint_file(self._file.step)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self._content)
        path.with_suffix(".json").write_text(json.dumps(self._file.model_dump()))
        self._file = None
        try:
            arrived = checkpoints.read(path)
        except CheckpointError as error:
            # A damaged checkpoint must not end the game.
            print(f"the game continues with the current checkpoint: {error}", file=sys.stderr)
            return
        finally:
            path.unlink()
            path.with_suffix(".json").unlink()
        self._then(arrived)


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
    # HeldAction because it closes the game when it is collected.
    episode: Iterable[Moment] = ()


def of_agent(checkpoint: LoadedCheckpoint, config: RunConfig) -> Staging:
    """Return the setup for a checkpoint's agent, with the starts and ends of its longest evaluation."""
    protocol = protocol_of(config)
    frames = config.environment.frames_per_step
    game = opener(config.env, protocol, frames, config.action_set, filmed=True)()
    begin = playing.opening(protocol, None)

    def open_game(number: int) -> None:
        begin(game, number, playing.draws(protocol, secrets.randbelow(SEEDS), number))

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
    retracing.check_score(game, origin.score, when=" before the decision")
    agent = LiveAgent(checkpoint, config, game)

    def open_game(number: int) -> None:
        if number > 1:
            game.show(drop)
            retracing.begin(game, protocol, origin.seed, origin.episode)
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
