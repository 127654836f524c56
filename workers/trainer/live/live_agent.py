"""Agent of a live game. It switches to newer checkpoints while it plays."""

import json
import secrets
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import softplus

from workers.contract import layout
from workers.contract.config import RunConfig
from workers.contract.events import CheckpointFile
from workers.contract.live import AgentOnStage
from workers.contract.protocols.acting import Acting
from workers.contract.spaces import ActionSpace, Continuous
from workers.trainer.games.games import PlayableGame
from workers.trainer.methods import TRAINERS
from workers.trainer.methods.trained_networks import Action, action_of
from workers.trainer.networks.agents import Memory
from workers.trainer.recording.diary import displayed_numbers, kind_of_numbers
from workers.trainer.run import checkpoints
from workers.trainer.run.checkpoints import CheckpointError, LoadedCheckpoint

SEEDS = 2**31

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
        self._random = torch.Generator().manual_seed(secrets.randbelow(SEEDS))
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
