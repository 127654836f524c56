"""Weights from torch files, and agents of Stable-Baselines3, rebuilt as networks of Arcadia with the same output.

A saved model is a zip file: `data` has the settings as JSON, with pickled parts that are never unpickled, and
`policy.pth` has the weights.
"""

import io
import re
import zipfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import Any, BinaryIO, Literal

import numpy as np

from arcadia_backend.errors import Problem
from arcadia_backend.files.zip_files import Members, ZipGuards
from arcadia_backend.untrusted.reading import UnreadableError, parse
from arcadia_workers.contract.action_names import NAMES
from arcadia_workers.contract.agents import weights
from arcadia_workers.contract.agents.document import MEMBER
from arcadia_workers.contract.agents.weights import Weights, WeightsError, of_array
from arcadia_workers.contract.games import Environment

# The members of a file of Stable-Baselines3.
_OF_STABLE_BASELINES = r"data|[a-z0-9_]{1,40}(\.optimizer)?\.pth|_stable_baselines3_version|system_info\.txt"


class BadAgent(Problem):
    """The file is not an agent file, or it is unsafe to import. Nothing was changed."""

    status = 422
    kind = "bad-agent"
    title = "Agent cannot be imported"


GUARDS = ZipGuards("Arcadia agent file", f"{MEMBER}|{_OF_STABLE_BASELINES}", BadAgent)


_MEMBER = (
    r"[A-Za-z0-9_.-]{1,100}/(data\.pkl|version|byteorder|\.format_version|\.storage_alignment"
    r"|\.data/serialization_id|data/\d{1,6})"
)
TORCH_GUARDS = ZipGuards("agent file with weights of torch", _MEMBER, BadAgent)
# The pickle of a large network has a few kilobytes.
MAX_PICKLE_BYTES = 1_000_000
_DTYPES = {"FloatStorage": "<f4", "DoubleStorage": "<f8", "HalfStorage": "<f2"}
# Tensors of a policy share numbers: up to three names have those of one feature extractor.
MAX_SHARING = 4


def read_tensors(file: BinaryIO) -> dict[str, Weights]:
    """Return the tensors of a file that `torch.save` wrote of a dictionary. Raise BadAgent for anything else."""
    with ExitStack() as stack, TORCH_GUARDS.checking():
        opened, members = TORCH_GUARDS.open(stack, file)
        folders = {name.split("/")[0] for name in members}
        folder = min(folders, default="")
        needed = (f"{folder}/data.pkl", f"{folder}/byteorder")
        if len(folders) != 1 or not members.keys() >= {*needed}:
            raise BadAgent("The weights are incomplete: they need one folder with data.pkl and byteorder.")
        if members[needed[0]].file_size > MAX_PICKLE_BYTES:
            raise BadAgent(f"The description of the weights is larger than {MAX_PICKLE_BYTES:,} bytes.")
        if opened.read(needed[1]).strip() != b"little":
            raise BadAgent(
                "The weights are not in little-endian byte order. Save them again on a little-endian machine."
            )

        @cache
        def read_storage(key: str) -> bytes:
            if f"{folder}/data/{key}" not in members:
                raise BadAgent(f"The weights are incomplete: the numbers {key} are missing.")
            return opened.read(f"{folder}/data/{key}")

        try:
            described = parse("torch_pickles", opened.read(needed[0]))
        except UnreadableError as error:
            raise BadAgent(f"The weights cannot be read: {error}.") from None
        return _to_weights(described, read_storage, MAX_SHARING * sum(info.file_size for info in members.values()))


def _to_weights(
    described: list[tuple[str, str, str, int, list[int], list[int]]],
    read_storage: Callable[[str], bytes],
    max_bytes: int,
) -> dict[str, Weights]:
    """Return the described tensors with their numbers."""
    network: dict[str, Weights] = {}
    for name, kind, key, offset, size, stride in described:
        numbers = np.frombuffer(read_storage(key), dtype=_DTYPES[kind])
        _require_whole(len(numbers), offset, size, stride)
        max_bytes -= 4 * prod(size)
        if max_bytes < 0:
            raise BadAgent("The weights name the same numbers too often.")
        network[name] = of_array(numbers[offset : offset + prod(size)].reshape(size))
    return network


def _require_whole(count: int, offset: int, size: Sequence[int], stride: Sequence[int]) -> None:
    """Raise BadAgent unless a tensor is a whole and contiguous part of a storage of `count` numbers."""
    contiguous = [prod(size[place + 1 :]) for place, _ in enumerate(size)]
    matters = [place for place, length in enumerate(size) if length != 1]
    fits = len(size) == len(stride) and min(size, default=0) >= 0 and 0 <= offset <= count - prod(size)
    if not fits or any(stride[place] != contiguous[place] for place in matters):
        raise BadAgent("The weights have a tensor that is not stored as a whole.")


POLICY, DATA, VERSION = "policy.pth", "data", "_stable_baselines3_version"
MAX_DATA_BYTES = 20_000_000
# The settings that are shown, if the model has them.
_SHOWN = (
    *("learning_rate", "n_steps", "batch_size", "n_epochs", "gamma", "gae_lambda", "ent_coef", "vf_coef"),
    *("max_grad_norm", "n_envs", "buffer_size", "learning_starts", "tau", "gradient_steps", "target_update_interval"),
    *("exploration_fraction", "exploration_initial_eps", "exploration_final_eps", "normalize_advantage", "seed"),
)
_ACTIVATIONS: dict[str, Literal["tanh", "relu"]] = {"Tanh": "tanh", "ReLU": "relu"}
_CNN = {
    "cnn.0": ("convolutions.0", (32, 4, 8, 8)),
    "cnn.2": ("convolutions.1", (64, 32, 4, 4)),
    "cnn.4": ("convolutions.2", (64, 64, 3, 3)),
    "linear.0": ("hidden", (512, 3136)),
}
# Names of the same tensors, which older or newer versions write in addition.
_COPIES = ("pi_features_extractor.", "vf_features_extractor.", "q_net_target.")


@dataclass(frozen=True)
class StableBaselinesAgent:
    """An agent that Stable-Baselines3 trained."""

    algorithm: Literal["PPO", "A2C", "DQN"]
    version: str
    steps: int
    settings: dict[str, Any]
    network: Mapping[str, Weights]
    activation: Literal["tanh", "relu"]
    actions: int
    continuous: bool

    @property
    def reads_pixels(self) -> bool:
        """True if the network has convolutions."""
        return any(".convolutions." in name for name in self.network)

    def to_config(self, env: str) -> dict[str, Any]:
        """Return a configuration of Arcadia with the same network."""
        config: dict[str, Any] = {"env": env, "total_steps": max(1, self.steps)}
        if isinstance(gamma := self.settings.get("gamma"), float):
            config["gamma"] = gamma
        if self.algorithm == "DQN":
            config["algorithm"] = "paac_q"
        else:
            # Only A3C can have a second network for the value.
            config |= {"algorithm": "a3c", "value_network": "shared" if self.reads_pixels else "separate"}
        if self.reads_pixels:
            return config | {"network": "nature"}
        hidden = [tensor.shape[0] for name, tensor in self.network.items() if re.search(r"layers\.\d+\.bias", name)]
        layers = len(hidden) if self.algorithm == "DQN" else len(hidden) // 2
        shape = {"hidden_units": hidden[0], "hidden_layers": layers, "activation": self.activation}
        return config | shape | {"network": "mlp"}


def read(opened: zipfile.ZipFile, members: Members) -> StableBaselinesAgent:
    """Read a saved model. Raise BadAgent with the reason if Arcadia cannot play it."""
    if DATA not in members:
        raise BadAgent(f"The file has weights of Stable-Baselines3, but {DATA} with its settings is missing.")
    if members[DATA].file_size > MAX_DATA_BYTES:
        raise BadAgent(f"{DATA} is larger than {MAX_DATA_BYTES:,} bytes.")
    data = GUARDS.parse_json(opened.read(DATA), DATA)
    if not isinstance(data, dict):
        raise BadAgent(f"{DATA} is not an object.")
    tensors = read_tensors(io.BytesIO(opened.read(POLICY)))
    try:
        weights.check_numbers(tensors)
    except WeightsError as error:
        raise BadAgent(f"{POLICY} cannot be used: {error}.") from None
    named = {name: tensor for name, tensor in tensors.items() if not name.startswith(_COPIES)}
    algorithm = _algorithm(data, named)
    network = _Renaming(named).of_values() if algorithm == "DQN" else _Renaming(named).of_policy()
    head = network["values.weight" if algorithm == "DQN" else "policy.weight"]
    return StableBaselinesAgent(
        algorithm=algorithm,
        version=opened.read(VERSION)[:30].decode("ascii", "replace").strip() if VERSION in members else "",
        steps=_count(data.get("num_timesteps")),
        settings=_settings(data, algorithm),
        network=network,
        activation=_activation(data, algorithm),
        actions=head.shape[0],
        continuous="log_std" in named,
    )


def check_actions(agent: StableBaselinesAgent, environment: Environment) -> None:
    """Raise BadAgent if an agent cannot play this environment."""
    if agent.continuous != (environment.actions == "continuous"):
        raise BadAgent(
            f"The agent cannot play {environment.id}: {environment.unfit_because}. Choose another environment."
        )
    if agent.reads_pixels != environment.shows_pixels:
        sees = "pictures" if environment.shows_pixels else "no pictures"
        raise BadAgent(f"The agent cannot play {environment.id}, which shows {sees}. Choose another environment.")
    names = environment.action_names or NAMES.get(environment.id)
    if names and len(names) != agent.actions:
        raise BadAgent(
            f"The agent has {agent.actions} actions, but {environment.id} has {len(names)}. Choose another environment."
        )


def _algorithm(data: Mapping[str, Any], tensors: Mapping[str, Weights]) -> Literal["PPO", "A2C", "DQN"]:
    policy = data.get("policy_class")
    module = policy.get("__module__") if isinstance(policy, dict) else None
    if data.get("use_sde"):
        raise BadAgent("The agent explores by a state-dependent distribution (use_sde), which Arcadia cannot play.")
    if isinstance(module, str) and module.startswith("stable_baselines3."):
        if any(name.startswith("q_net.") for name in tensors):
            return "DQN"
        if "action_net.weight" in tensors:
            return "PPO" if "clip_range" in data else "A2C"
    raise BadAgent(
        "The model is not one of PPO, A2C or DQN with CnnPolicy or MlpPolicy, so Arcadia cannot play it. Its policy is "
        f"of {str(module)[:80]}."
    )


class _Renaming:
    """Renaming of a policy's tensors to the names of Arcadia's networks. Every tensor must have a place."""

    def __init__(self, tensors: Mapping[str, Weights]) -> None:
        self._left = dict(tensors)
        self._network: dict[str, Weights] = {}

    def of_policy(self) -> dict[str, Weights]:
        """Return the network of PPO or A2C."""
        if "features_extractor.cnn.0.weight" in self._left:
            self._convolutions("features_extractor")
        else:
            self._layers("mlp_extractor.policy_net", "bodies.0")
            self._layers("mlp_extractor.value_net", "bodies.1")
            self._require_equal_layers()
        self._move("action_net", "policy")
        self._move("value_net", "value")
        if "log_std" in self._left:
            self._network["policy.log_deviation"] = self._left.pop("log_std")
        return self._finished()

    def of_values(self) -> dict[str, Weights]:
        """Return the network of DQN."""
        if "q_net.features_extractor.cnn.0.weight" in self._left:
            self._convolutions("q_net.features_extractor", "body")
            self._move("q_net.q_net.0", "values")
            return self._finished()
        names = [name for name in self._left if re.fullmatch(r"q_net\.q_net\.\d+\.weight", name)]
        last = max((int(name.split(".")[2]) for name in names), default=0)
        self._move(f"q_net.q_net.{last}", "values")
        self._layers("q_net.q_net", "body")
        self._require_equal_layers()
        return self._finished()

    def _convolutions(self, source: str, target: str = "bodies.0") -> None:
        for name, (place, shape) in _CNN.items():
            if getattr(self._left.get(f"{source}.{name}.weight"), "shape", None) != shape:
                raise BadAgent("Its network for pictures is not NatureCNN on four gray pictures of 84 × 84.")
            self._move(f"{source}.{name}", f"{target}.{place}")

    def _layers(self, source: str, target: str) -> None:
        number = 0
        while f"{source}.{number}.weight" in self._left:
            self._move(f"{source}.{number}", f"{target}.layers.{number}")
            number += 2

    def _move(self, source: str, target: str) -> None:
        for part in ("weight", "bias"):
            if f"{source}.{part}" not in self._left:
                raise BadAgent(f"The weights have no {source}.{part}, so their policy is unknown.")
            self._network[f"{target}.{part}"] = self._left.pop(f"{source}.{part}")

    def _require_equal_layers(self) -> None:
        """Raise BadAgent unless all hidden layers have the same width, and both networks the same number of them."""
        hidden = {name: each for name, each in self._network.items() if ".layers." in name and name.endswith("bias")}
        if not hidden:
            raise BadAgent("Its network has no hidden layers. Arcadia plays networks with at least one.")
        widths = sorted({each.shape[0] for each in hidden.values() if each.shape})
        if len(widths) != 1:
            raise BadAgent(
                f"Its hidden layers have {' and '.join(map(str, widths))} units. Arcadia plays networks whose hidden "
                "layers all have the same number of units, such as net_arch=[64, 64]."
            )
        policy, value = (sum(name.startswith(f"bodies.{trunk}.") for name in hidden) for trunk in (0, 1))
        if policy != value:
            raise BadAgent(
                f"Its policy network has {policy} hidden layers and its value network {value}. Arcadia plays networks "
                "in which both have the same number."
            )

    def _finished(self) -> dict[str, Weights]:
        if self._left:
            raise BadAgent(f"The weights have {min(self._left)[:100]}, for which Arcadia's networks have no place.")
        return self._network


def _activation(data: Mapping[str, Any], algorithm: str) -> Literal["tanh", "relu"]:
    """Return the activation of the hidden layers. The settings name it only if it is not the default."""
    arguments = data.get("policy_kwargs")
    named = arguments.get("activation_fn") if isinstance(arguments, dict) else None
    if named is None:
        return "relu" if algorithm == "DQN" else "tanh"
    match = re.search(r"(\w+)'>$", str(named))
    if match is None or match[1] not in _ACTIVATIONS:
        raise BadAgent(f"Its hidden layers have the activation {str(named)[:80]}. Arcadia plays Tanh and ReLU.")
    return _ACTIVATIONS[match[1]]


def _settings(data: Mapping[str, Any], algorithm: str) -> dict[str, Any]:
    shown = {name: data[name] for name in _SHOWN if isinstance(data.get(name), int | float | str)}
    return {**shown, "learns": "values" if algorithm == "DQN" else "policy"}


def _count(value: Any) -> int:
    return value if isinstance(value, int) and 0 <= value < 2**53 else 0
