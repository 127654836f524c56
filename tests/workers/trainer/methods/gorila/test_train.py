"""Tests for the state that a Gorila run saves and restores, and that other methods do not import Ray."""

import ast
import subprocess
import sys
from pathlib import Path

import numpy as np
import torch

from arcadia_workers.contract.config import GorilaConfig
from arcadia_workers.contract.layout import WEIGHTS_ONLY
from arcadia_workers.trainer.environments import own_environment
from arcadia_workers.trainer.learning.optimizers import FlatParameters
from arcadia_workers.trainer.methods import gorila
from arcadia_workers.trainer.methods.gorila.gorila import build
from arcadia_workers.trainer.methods.gorila.parameter_server import ShardState
from arcadia_workers.trainer.methods.gorila.train import fresh, restore, state
from arcadia_workers.trainer.run.run import TrainingState

CONFIG = GorilaConfig(env="CartPole-v1", hidden_layers=1, hidden_units=3, optimizer="rmsprop")
# Names in existing checkpoints.
NETWORK = {
    "network.body.layers.0.weight": (3, 4),
    "network.body.layers.0.bias": (3,),
    "network.values.weight": (2, 3),
    "network.values.bias": (2,),
}
SIZE = 23


def parameters(config: GorilaConfig) -> FlatParameters:
    return FlatParameters(build(config, *own_environment.interface(config)))


def saved_before() -> TrainingState:
    """Return the state of a checkpoint with all names written out."""
    made = torch.Generator().manual_seed(1)
    tensors = {name: torch.randn(shape, generator=made) for name, shape in NETWORK.items()}
    tensors |= {name: torch.rand(SIZE, generator=made) for name in ("optimizer.statistics", "target.values")}
    return TrainingState(400, 400, tensors, {"updates": 70, "optimizer": "rmsprop", "stale": 3, "outliers": 5})


def test_an_existing_checkpoint_is_restored_and_saved_again_under_the_same_names() -> None:
    saved, held = saved_before(), parameters(CONFIG)
    whole = restore(saved, CONFIG, held)
    assert np.array_equal(whole.values, torch.cat([saved.tensors[name].flatten() for name in NETWORK]).numpy())
    assert np.array_equal(whole.statistics, saved.tensors["optimizer.statistics"].numpy())
    assert np.array_equal(whole.target, saved.tensors["target.values"].numpy())
    assert whole.updates == 70

    again = state(whole, 400, CONFIG, parameters(CONFIG), {"stale": 3, "outliers": 5})
    assert again.tensors.keys() == saved.tensors.keys()
    for name, tensor in saved.tensors.items():
        assert torch.equal(again.tensors[name], tensor), name
    assert (again.step, again.frames, again.facts) == (saved.step, saved.frames, saved.facts)


def test_another_optimizer_begins_with_new_statistics() -> None:
    config = CONFIG.model_copy(update={"optimizer": "adagrad"})
    whole: ShardState = restore(saved_before(), config, parameters(config))
    assert not whole.statistics.any()
    assert whole.updates == 70


def test_a_checkpoint_with_only_weights_begins_with_new_statistics_and_its_weights_as_the_target() -> None:
    saved = saved_before()
    tensors = {name: saved.tensors[name] for name in NETWORK}
    whole = restore(TrainingState(400, 400, tensors, {**saved.facts, WEIGHTS_ONLY: True}), CONFIG, parameters(CONFIG))
    assert np.array_equal(whole.values, torch.cat([each.flatten() for each in tensors.values()]).numpy())
    assert np.array_equal(whole.target, whole.values)
    assert np.array_equal(whole.statistics, fresh(CONFIG, parameters(CONFIG)).statistics)
    assert whole.updates == 0


def test_methods_are_imported_without_ray() -> None:
    program = "import sys, arcadia_workers.trainer.methods; print('ray' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout == "False\n"


def test_there_are_no_circular_imports() -> None:
    folder = Path(gorila.__file__).parent
    left = {path.stem: imported(path) - {path.stem} for path in folder.glob("*.py")}
    assert left["train"] >= {"crew", "gorila", "reporter"}  # imports within functions are also found
    while free := [name for name, needed in left.items() if not needed & left.keys()]:
        for name in free:
            del left[name]
    assert left == {}


def imported(path: Path) -> set[str]:
    """Return the modules of the package that a module imports, including imports within functions."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(gorila.__name__):
            module = str(node.module).removeprefix(gorila.__name__).removeprefix(".")
            found |= {module} if module else {alias.name for alias in node.names}
    return found
