"""Play with the agent in this folder: python play.py --episodes 30 --seed 1

It needs torch, gymnasium, numpy, and ale-py for Atari games. The same protocol, seed and acting give the same scores as
`arcadia evaluate`. Environments whose ids begin with Arcadia/ also need the package arcadia.
"""

import argparse
import importlib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

Document = dict[str, Any]
Memory = list[tuple[Tensor, Tensor]]

# Episode n is played in row n mod LANES of a batch with LANES rows. Other batches would round numbers differently.
LANES = 8
SEEDS = 2**31 - 1
SIDE = 84
BLOCK_STRIDES = (2, 4)
TYPES = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}
# Their physics survive a reset, so each episode gets a new environment.
KEEP_THEIR_WORLD = ("BipedalWalker-v3", "BipedalWalkerHardcore-v3")


def read_weights(path: Path) -> dict[str, Tensor]:
    """Read a safetensors file: the size of a JSON header, the header, and the tensors."""
    content = bytearray(path.read_bytes())
    start = 8 + int.from_bytes(content[:8], "little")
    tensors = {}
    for name, entry in json.loads(content[8:start]).items():
        if name != "__metadata__":
            first, end = entry["data_offsets"]
            tensor = torch.frombuffer(content[start + first : start + end], dtype=TYPES[entry["dtype"]])
            tensors[name] = tensor.reshape(entry["shape"]).float()
    return tensors


class Network:
    """The agent's network: `trunks` of layers, an optional LSTM after each, and the head of the policy or Q."""

    def __init__(self, shape: Document, weights: dict[str, Tensor]) -> None:
        self.shape, self.weights = shape, weights
        self.activation = torch.tanh if shape["activation"] == "tanh" else F.relu

    def initial_memory(self) -> Memory:
        """Return h and c of each LSTM at the start of an episode."""
        units = self.shape["lstm_units"]
        return [(torch.zeros(LANES, units), torch.zeros(LANES, units)) for _ in self.shape["trunks"] if units]

    @torch.no_grad()
    def __call__(self, observations: Tensor, memory: Memory) -> tuple[Tensor, Memory]:
        """Return the policy's outputs or the action values, one row per observation, and the new memory."""
        features = self.trunk(self.shape["trunks"][0], observations)
        if memory:
            # The other trunk serves the value, which is not needed to play.
            memory = [self.lstm("lstms.0", features, memory[0]), *memory[1:]]
            features = memory[0][0]
        return self.head(features), memory

    def linear(self, name: str, x: Tensor) -> Tensor:
        return F.linear(x, self.weights[f"{name}.weight"], self.weights[f"{name}.bias"])

    def trunk(self, name: str, x: Tensor) -> Tensor:
        if not self.shape["strides"]:
            if self.shape["filtered"]:
                mean, variance = (self.weights[f"{name}.filter.{part}"] for part in ("mean", "variance"))
                x = ((x - mean) * (variance + 1e-8).rsqrt()).clamp(-5, 5)
            for layer in range(self.shape["layers"]):
                x = self.activation(self.linear(f"{name}.layers.{2 * layer}", x))
            return x
        for layer, stride in enumerate(self.shape["strides"]):
            weight, bias = (self.weights[f"{name}.convolutions.{layer}.{part}"] for part in ("weight", "bias"))
            if layer == 0:
                x, weight, stride = first_layer(x, weight / 255, stride)
            x = F.relu(F.conv2d(x, weight, bias, stride))
        return F.relu(self.linear(f"{name}.hidden", x.flatten(1)))

    def lstm(self, name: str, x: Tensor, before: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        """o, i, f = σ(…), g = tanh(…);  c ← f·c + i·g;  h ← o·tanh c."""
        ih, hh, bias = (self.weights[f"{name}.{part}"] for part in ("weight_ih", "weight_hh", "bias"))
        sums = torch.addmm(torch.addmm(bias, x, ih.t()), before[0], hh.t())
        cells = self.shape["lstm_units"]
        o, i, f = sums[:, : 3 * cells].sigmoid().chunk(3, dim=1)
        c = f * before[1] + i * sums[:, 3 * cells :].tanh()
        return o * c.tanh(), c

    def head(self, features: Tensor) -> Tensor:
        if self.shape["kind"] == "policy":
            numbers = self.linear("policy", features)
            if self.shape["deviations"]:
                variance = (2 * self.weights["policy.log_deviation"]).exp()
                before_softplus = variance + torch.log(-torch.expm1(-variance))
                numbers = torch.cat([numbers, before_softplus.expand_as(numbers)], dim=-1)
            return numbers
        if not self.shape["dueling"]:
            return self.linear("values", features)
        stream = features.shape[1] // 2
        advantages = self.linear("advantages", features[:, stream:])
        return self.linear("values", features[:, :stream]) + advantages - advantages.mean(dim=-1, keepdim=True)


def first_layer(x: Tensor, weight: Tensor, stride: int) -> tuple[Tensor, Tensor, int]:
    """Return pixels, weights and stride with each block of stride × stride pixels as one position, as in training.

    A convolution of single pixels would add up in another order, and round differently.
    """
    count, depth, height, width = x.shape
    outputs, _, kernel, _ = weight.shape
    if stride not in BLOCK_STRIDES or any(length % stride for length in (kernel, height, width)):
        return x.float(), weight, stride
    rows, columns, blocks = height // stride, width // stride, kernel // stride
    x = x.view(count, depth, rows, stride, columns, stride).permute(0, 2, 4, 1, 3, 5)
    weight = weight.view(outputs, depth, blocks, stride, blocks, stride).permute(0, 1, 3, 5, 2, 4)
    weight = weight.reshape(outputs, -1, blocks, blocks).contiguous(memory_format=torch.channels_last)
    return x.reshape(count, rows, columns, -1).permute(0, 3, 1, 2).float(), weight, 1


class EmulatedGame:
    """An Atari game that the agent sees as four gray screens, each the maximum of two successive frames."""

    def __init__(self, environment: Document, protocol: Document) -> None:
        import ale_py
        from ale_py.roms import get_rom_path

        ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
        self.ale = ale_py.ALEInterface()
        self.ale.setFloat("repeat_action_probability", protocol.get("repeat_action_probability", 0.0))
        self.ale.setInt("frame_skip", 1)
        self.ale.setBool("color_averaging", False)
        rom = get_rom_path(environment["rom"])
        if rom is None:
            raise SystemExit(f"This version of ale-py has no game {environment['rom']}.")
        self.rom = rom
        self.ale.loadROM(self.rom)
        full = environment["action_set"] == "full"
        self.actions = self.ale.getLegalActionSet() if full else self.ale.getMinimalActionSet()
        self.skip, self.cap = environment["frames_per_step"], protocol["cap_frames"] or math.inf
        self.bounds = None

    def begin(self, seed: int, noops: int) -> None:
        """Start a game and hold no action for `noops` frames."""
        self.ale.setInt("random_seed", seed)
        self.ale.loadROM(self.rom)  # applies the seed
        self.ale.reset_game()
        self.score, self.frames, self.over = 0.0, 0, False
        for _ in range(noops):
            if not self.over:
                self.frame(self.ale.getLegalActionSet()[0])
        self.observation = np.zeros((4, SIDE, SIDE), dtype=np.uint8)
        self.observation[-1] = shrunk(self.ale.getScreenGrayscale())

    def step(self, action: Any) -> None:
        """Repeat an action for some frames."""
        screens = []
        for remaining in reversed(range(self.skip)):
            self.frame(self.actions[action])
            if remaining < 2 or self.over:
                screens.append(self.ale.getScreenGrayscale())
            if self.over:
                break
        screen = shrunk(np.maximum(screens[0], screens[-1]))
        self.observation = np.concatenate([self.observation[1:], screen[None]])

    def frame(self, action: Any) -> None:
        self.score += self.ale.act(action)
        self.frames += 1
        self.over = self.frames >= self.cap or self.ale.game_over()


def shrunk(screen: Any) -> Any:
    """Resize a screen to 84 × 84 by area, first horizontally, then vertically."""
    across = shortened(screen.T.astype(np.float32, order="C")).T
    return np.rint(shortened(across)).astype(np.uint8)


def shortened(rows: Any) -> Any:
    """Average the rows that map to each of 84 rows, in the order of the training emulator."""
    (row, share), *others = taps(len(rows))
    total = rows[row] * share
    for row, share in others:
        total += rows[row] * share
    return total


@cache
def taps(rows: int) -> list[tuple[Any, Any]]:
    """Return, tap by tap, a row that contributes to each of 84 rows, with its share of the area."""
    size = rows / SIDE
    begin, end = np.arange(SIDE) * size, (np.arange(SIDE) + 1) * size
    contributions = []
    for tap in range(math.ceil(size) + 1):
        under = np.floor(begin + 1e-9).astype(np.int64) + tap
        shares = (np.minimum(under + 1, end) - np.maximum(under, begin)) / size
        shares = np.where(shares > 1e-6, shares, 0).astype(np.float32)
        if shares.any():
            contributions.append((np.minimum(under, rows - 1), shares[:, None]))
    return contributions


class OtherGame:
    """An environment of gymnasium."""

    def __init__(self, environment: Document, _protocol: Document) -> None:
        if environment["id"].startswith("Arcadia/"):
            register_environments_of_arcadia(environment["id"])
        if environment["module"]:
            register_environments_of_package(environment)
        self.id, self.pixels = environment["id"], environment["pixels"]
        self.env = self.make()
        space = self.env.action_space
        self.bounds = (space.low, space.high) if isinstance(space, gymnasium.spaces.Box) else None

    def begin(self, seed: int, _noops: int) -> None:
        """Start an episode."""
        if self.id in KEEP_THEIR_WORLD:
            self.env = self.make()
        observation, _ = self.env.reset(seed=seed)
        self.observation = as_input(observation)
        self.score, self.over = 0.0, False

    def make(self) -> Any:
        """Open the environment. Observations other than pictures for convolutions become vectors."""
        env = gymnasium.make(self.id)
        space = env.observation_space
        is_vector = isinstance(space, gymnasium.spaces.Box) and len(space.shape) == 1
        return env if self.pixels or is_vector else gymnasium.wrappers.FlattenObservation(env)

    def step(self, action: Any) -> None:
        """Take one step."""
        if self.bounds:
            action = np.clip(action, *self.bounds).astype(np.float32)
        observation, reward, terminated, truncated, _ = self.env.step(action)
        self.observation = as_input(observation)
        self.score += float(reward)
        self.over = bool(terminated or truncated)


def as_input(observation: Any) -> Any:
    """Return pixels as bytes, and anything else as float32."""
    array = np.asarray(observation)
    return array if array.dtype == np.uint8 else array.astype(np.float32)


def register_environments_of_package(environment: Document) -> None:
    """Import the module that registers an environment of another package."""
    try:
        importlib.import_module(environment["module"])
    except ImportError:
        package = environment["module"].partition(".")[0]
        raise SystemExit(f"{environment['id']} is an environment of {package}, which is not installed.") from None


def register_environments_of_arcadia(name: str) -> None:
    """Make the environments of Arcadia known to gymnasium."""
    try:
        importlib.import_module("arcadia_workers.trainer.environments.worlds")
    except ImportError:
        raise SystemExit(
            f"{name} is an environment of Arcadia itself. Install the package arcadia to play it."
        ) from None


def chooser(acting: Document, bounds: Any, seed: int) -> Callable[[Tensor], Any]:
    """Return a function that chooses the actions of one episode from the network's outputs."""
    random = torch.Generator().manual_seed(seed)
    size = 0 if bounds is None else len(bounds[0])

    def sampled(numbers: Tensor) -> Any:
        if bounds is None:
            race = torch.empty_like(numbers).exponential_(generator=random)
            return int((numbers - race.log_()).argmax(dim=-1))
        mean, variance = numbers[..., :size], F.softplus(numbers[..., size:])
        noise = torch.empty_like(mean).normal_(generator=random)
        return np.asarray(torch.addcmul(mean, variance.sqrt(), noise)[0], dtype=np.float32)

    def greedy(numbers: Tensor) -> Any:
        if bounds is not None:
            return np.asarray(numbers[0, :size], dtype=np.float32)
        explores = float(torch.rand(1, generator=random)) < (acting["epsilon"] or 0.0)
        anything = int(torch.randint(numbers.shape[-1], (1,), generator=random))
        return anything if explores else int(numbers.argmax(dim=-1))

    return sampled if acting["name"] == "sampled" else greedy


class PlayedRow:
    """Row of the batch, which plays some of the episodes in sequence."""

    def __init__(
        self, agent: Document, protocol: Document, acting: Document, seed: int, numbers: Iterable[int]
    ) -> None:
        kind: Any = EmulatedGame if agent["environment"]["rom"] else OtherGame
        self.game = kind(agent["environment"], protocol)
        self.protocol, self.acting, self.seed, self.waiting = protocol, acting, seed, list(numbers)
        self.open()

    def open(self) -> None:
        """Begin the next episode. Its random numbers depend only on the seed and its number."""
        self.number = self.waiting.pop(0)
        random = np.random.default_rng([self.seed, self.number])
        game_seed, acting_seed = (int(drawn) for drawn in random.integers(SEEDS, size=2))
        least, most = self.protocol["noops"] or (0, 0)
        self.game.begin(game_seed, int(random.integers(least, most + 1)))
        self.points_before = self.game.score if self.protocol["own_points_only"] else 0.0
        self.choose = chooser(self.acting, self.game.bounds, acting_seed)


def play(
    agent: Document, network: Network, protocol: Document, acting: Document, seed: int, episodes: int
) -> Iterator[tuple[int, float]]:
    """Play episodes side by side, and yield the number and the score of each when it ends."""
    lanes = {
        row: PlayedRow(agent, protocol, acting, seed, range(row, episodes, LANES))
        for row in range(min(LANES, episodes))
    }
    first = lanes[0].game.observation
    kind = np.uint8 if agent["environment"]["pixels"] else np.float32
    observations, memory = np.zeros((LANES, *first.shape), dtype=kind), network.initial_memory()
    while lanes:
        for row, lane in lanes.items():
            observations[row] = lane.game.observation
        numbers, memory = network(torch.from_numpy(observations), memory)
        for row, lane in list(lanes.items()):
            lane.game.step(lane.choose(numbers[row : row + 1]))
            if lane.game.over:
                yield lane.number, lane.game.score - lane.points_before
                for h, c in memory:
                    h[row], c[row] = 0, 0
                if lane.waiting:
                    lane.open()
                else:
                    del lanes[row]


def read_options(agent: Document, arguments: Sequence[str] | None) -> tuple[Document, Document, int, int]:
    """Read the command line."""
    protocols = {protocol["name"]: protocol for protocol in agent["protocols"]}
    usual = agent["acting"]
    parser = argparse.ArgumentParser(description=f"Play {agent['environment']['id']} with {agent['name']}.")
    parser.add_argument("--protocol", choices=protocols, default=agent["protocols"][0]["name"])
    parser.add_argument("--episodes", type=int, help="default: as in the protocol")
    parser.add_argument("--seed", type=int, default=1, help="the same seed gives the same scores (default: 1)")
    parser.add_argument("--acting", choices=["sampled", "greedy", "epsilon-greedy"], default=usual["name"])
    parser.add_argument("--epsilon", type=float, default=0.05, help="random actions of epsilon-greedy (default: 0.05)")
    options = parser.parse_args(arguments)
    if options.acting == "sampled" and agent["network"]["kind"] == "values":
        parser.error("sampled needs a policy, but this agent has action values: use epsilon-greedy or greedy")
    protocol = protocols[options.protocol]
    epsilon = options.epsilon if options.acting == "epsilon-greedy" else None
    acting = {"name": options.acting, "epsilon": epsilon}
    return protocol, acting, options.seed, options.episodes or protocol["episodes"]


def main(arguments: Sequence[str] | None = None, folder: Path | None = None) -> list[float]:
    """Play, print the scores and return them in the order of their episodes."""
    folder = folder or Path(__file__).parent
    agent = json.loads((folder / "agent.json").read_text())
    if agent["network"] is None:
        raise SystemExit(
            f"This network comes from a plug-in. Play it in Arcadia with {agent['method']['title']} installed."
        )
    protocol, acting, seed, episodes = read_options(agent, arguments)
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    network = Network(agent["network"], read_weights(folder / "weights.safetensors"))
    scores = {}
    for number, score in play(agent, network, protocol, acting, seed, episodes):
        scores[number] = score
        print(f"episode {number}: {score}", flush=True)
    ordered = [scores[number] for number in sorted(scores)]
    print(f"mean of {len(ordered)} episodes by {protocol['name']}: {np.mean(ordered):.6g}")
    return ordered


if __name__ == "__main__":
    main()
