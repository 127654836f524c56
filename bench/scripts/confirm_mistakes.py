"""Confirm the mistakes of a review of Pong, without code of Arcadia: ale-py, the paper's preprocessing and network.

    python bench/scripts/confirm_mistakes.py --checkpoint FILE.safetensors --episode FILE.json --csv FILE

The JSON file of `python -m bench.pong_review` has the emulator's seed, the no-ops, the actions of all decisions, and
the decisions to confirm, with the action taken and a better one. Each is simulated in pairs of futures with the same
random numbers for the agent's later actions. A loss is confirmed if its interval is above the margin of a review.
"""

import argparse
import contextlib
import csv
import io
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import ale_py
import numpy as np
import torch
import torch.nn.functional as F
from ale_py.roms import get_rom_path
from numpy.typing import NDArray
from safetensors.torch import load_file
from torch import Tensor

SIDE, STACK, FRAMES = 84, 4, 4
GAMMA, HORIZON = 0.99, 200
# A mistake loses more than this share of the largest outcome, which is 1 with clipped rewards.
MARGIN = 0.02

Screen = NDArray[np.uint8]


def shrinking(size: int) -> Tensor:
    """Return the matrix that averages the pixels of one dimension by area."""
    edges = np.arange(SIDE + 1) * size / SIDE
    pixels = np.arange(size)
    overlap = np.minimum(edges[1:, None], pixels + 1) - np.maximum(edges[:-1, None], pixels)
    return torch.from_numpy((np.clip(overlap, 0, None) * SIDE / size).astype(np.float32))


TALL, WIDE = shrinking(210), shrinking(160)


@dataclass(frozen=True)
class State:
    """A state of the game, with what the agent sees."""

    emulator: Any
    seen: NDArray[np.uint8]


class Pong:
    """The game on one emulator, whose states are swapped."""

    def __init__(self, seed: int) -> None:
        ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
        self._ale = ale_py.ALEInterface()
        self._ale.setFloat("repeat_action_probability", 0.0)
        self._ale.setInt("random_seed", seed)
        with contextlib.redirect_stdout(io.StringIO()):
            rom = get_rom_path("pong")
        if rom is None:
            raise SystemExit("ale-py has no ROM of Pong: install it again.")
        self._ale.loadROM(rom)
        self._ale.reset_game()
        self.actions = self._ale.getMinimalActionSet()

    def begin(self, noops: int) -> State:
        """Return the state in which the agent takes over. It sees only the current screen."""
        for _ in range(noops):
            self._ale.act(ale_py.Action.NOOP)
        seen = np.zeros((STACK, SIDE, SIDE), dtype=np.uint8)
        seen[-1] = self._shrunk(self._ale.getScreenGrayscale())
        return State(self._ale.cloneState(), seen)

    def step(self, state: State, action: int) -> tuple[State, float, bool]:
        """Take one decision. Return the next state, the reward, and True if the game is over."""
        self._ale.restoreState(state.emulator)
        reward, screens = 0.0, []
        for _ in range(FRAMES):
            reward += self._ale.act(self.actions[action])
            screens.append(self._ale.getScreenGrayscale())
        seen = np.concatenate([state.seen[1:], self._shrunk(np.maximum(*screens[-2:]))[None]])
        return State(self._ale.cloneState(), seen), reward, self._ale.game_over()

    @staticmethod
    def _shrunk(screen: Screen) -> Screen:
        # By torch, which has one thread here. Threads of numpy's library would wait for each other.
        shrunk: Screen = (TALL @ torch.from_numpy(screen).float() @ WIDE.T).round().byte().numpy()
        return shrunk


class Agent:
    """The network of A3C (Mnih et al. 2016, section 8): two convolutions and a hidden layer."""

    def __init__(self, checkpoint: Path) -> None:
        tensors = {name: tensor.float() for name, tensor in load_file(checkpoint).items()}
        self._tensors = {name.removeprefix("network."): tensor for name, tensor in tensors.items()}

    @torch.inference_mode()
    def policies(self, seen: Sequence[NDArray[np.uint8]]) -> Tensor:
        """Return the probabilities of the actions."""
        layer = self._tensors
        x = torch.from_numpy(np.stack(seen)).float() / 255
        for number, stride in enumerate((4, 2)):
            weight = layer[f"body.convolutions.{number}.weight"]
            x = F.relu(F.conv2d(x, weight, layer[f"body.convolutions.{number}.bias"], stride))
        x = F.relu(F.linear(x.flatten(1), layer["body.hidden.weight"], layer["body.hidden.bias"]))
        return F.linear(x, layer["policy.weight"], layer["policy.bias"]).softmax(dim=-1)


@dataclass(frozen=True)
class Future:
    """A future in progress, with the random numbers that choose its actions."""

    state: State
    luck: NDArray[np.float64]
    outcome: float = 0.0
    decisions: int = 0
    is_over: bool = False


def after(game: Pong, future: Future, action: int) -> Future:
    """Return the future after a decision. It ends with the first reward."""
    state, reward, is_over = game.step(future.state, action)
    outcome = GAMMA**future.decisions * float(np.sign(reward))
    decisions = future.decisions + 1
    return replace(
        future,
        state=state,
        outcome=outcome,
        decisions=decisions,
        is_over=is_over or reward != 0 or decisions == HORIZON,
    )


def outcomes(game: Pong, agent: Agent, state: State, first: int, luck: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the outcome of each future that begins with an action. `luck` has a row for each."""
    futures = [after(game, Future(state, row), first) for row in luck]
    while playing := [number for number, future in enumerate(futures) if not future.is_over]:
        policies = agent.policies([futures[number].state.seen for number in playing]).double().cumsum(dim=-1)
        for number, policy in zip(playing, policies.numpy(), strict=True):
            future = futures[number]
            drawn = future.luck[future.decisions]
            action = min(int(np.searchsorted(policy, drawn, side="right")), len(policy) - 1)
            futures[number] = after(game, future, action)
    return np.array([future.outcome for future in futures])


def states(game: Pong, noops: int, actions: Sequence[int], wanted: set[int]) -> Iterator[tuple[int, State]]:
    """Play the episode, and yield the states before the wanted decisions."""
    state = game.begin(noops)
    for decision, action in enumerate(actions):
        if decision in wanted:
            yield decision, state
        state, _, _ = game.step(state, action)


def main() -> None:
    """Print the simulated loss of each decision."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--episode", type=Path, required=True)
    parser.add_argument("--pairs", type=int, default=320)
    parser.add_argument("--csv", type=Path, required=True)
    options = parser.parse_args()
    torch.set_num_threads(1)
    episode = json.loads(options.episode.read_text())
    game, agent = Pong(episode["seed"]), Agent(options.checkpoint)
    found = {int(each["decision"]): each for each in episode["decisions"]}
    rows = []
    for decision, state in states(game, episode["noops"], episode["actions"], set(found)):
        each = found[decision]
        luck = np.random.default_rng([2026, decision]).random((options.pairs, HORIZON + 1))
        better, taken = (outcomes(game, agent, state, each[side], luck) for side in ("better", "taken"))
        losses = better - taken
        half = 1.96 * losses.std(ddof=1) / math.sqrt(len(losses))
        row = {"decision": decision, "kind": each["kind"], "loss": f"{losses.mean():.4f}", "half_width": f"{half:.4f}"}
        rows.append({**row, "pairs": len(losses)})
        print(rows[-1], "confirmed" if losses.mean() - half > MARGIN else "not confirmed", flush=True)
    with options.csv.open("w", newline="") as file:
        writer = csv.DictWriter(file, ["decision", "kind", "loss", "half_width", "pairs"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
