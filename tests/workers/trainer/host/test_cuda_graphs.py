"""Tests that CUDA graphs do not change the results of training, and do nothing without a GPU."""

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import torch
from pydantic import JsonValue

from arcadia_workers.contract.action_names import Discrete
from arcadia_workers.contract.config import Ga3cConfig, PaacConfig
from arcadia_workers.contract.events import RequestedChange
from arcadia_workers.trainer.host import devices
from arcadia_workers.trainer.host.devices import WARM_UP_CALLS, graphed
from arcadia_workers.trainer.methods.ga3c import model as ga3c
from arcadia_workers.trainer.methods.ga3c.experiences import Experiences, Submission
from arcadia_workers.trainer.methods.ga3c.model import Model, TrainingBatch
from arcadia_workers.trainer.methods.paac import paac
from arcadia_workers.trainer.networks import networks
from arcadia_workers.trainer.run.run import NullRun

ACTIONS, SHAPE = 6, (4, 84, 84)

needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="this machine has no GPU that torch can use")


def test_without_a_gpu_functions_are_unchanged() -> None:
    def work(x: float) -> float:
        return x

    assert graphed(work, torch.device("cpu")) is work


@needs_gpu
def test_a_graph_uses_current_tensor_values_and_accepts_floats() -> None:
    device = torch.device("cuda")
    numbers = torch.arange(6.0, device=device)
    work = graphed(lambda x, rows, factor: x[rows] * factor, device)
    for call in range(2 * WARM_UP_CALLS):
        numbers.add_(1)
        for rows in (slice(0, 3), slice(3, 6)):
            assert torch.equal(work(numbers, rows, float(call)), numbers[rows] * call)


@needs_gpu
def test_cpu_tensors_at_any_address_are_copied_for_a_graph() -> None:
    work = graphed(lambda x, factor: x * factor, torch.device("cuda"))
    for call in range(2 * WARM_UP_CALLS):
        for rows in (1, 3):
            numbers = torch.full((rows,), float(call))
            assert torch.equal(work(numbers, 2.0).cpu(), 2 * numbers)


@needs_gpu
@pytest.mark.parametrize("centered", [False, True])
def test_paac_learns_the_same_with_and_without_graphs(centered: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    config = PaacConfig(
        env="ALE/Pong-v5",
        num_envs=8,
        num_workers=2,
        total_steps=8 * 5 * 4 * WARM_UP_CALLS,
        device="cuda",
        precision="float32",
        centered_inputs=centered,
        seed=3,
    )
    with_graphs = trained(config)

    monkeypatch.setattr(paac, "graphed", without_graphs)
    for name, weights in trained(config).items():
        torch.testing.assert_close(with_graphs[name], weights, rtol=1e-4, atol=1e-5)


@needs_gpu
@pytest.mark.parametrize(
    "fields", [{"learning_rate": 0.02}, {"entropy_cost": 1.0}, {"value_cost": 5.0}, {"max_grad_norm": 0.0001}], ids=str
)
def test_changed_settings_take_effect_in_recorded_graphs(
    fields: dict[str, JsonValue], monkeypatch: pytest.MonkeyPatch
) -> None:
    rollout = 8 * 5
    config = PaacConfig(
        env="ALE/Pong-v5",
        num_envs=8,
        num_workers=2,
        total_steps=rollout * 4 * WARM_UP_CALLS,
        device="cuda",
        precision="float32",
        seed=3,
    )
    change = RequestedChange(number=1, fields=fields, step=rollout * 2 * WARM_UP_CALLS)
    unchanged, with_graphs = trained(config), trained(config, change)
    assert any(not torch.equal(with_graphs[name], weights) for name, weights in unchanged.items())

    monkeypatch.setattr(paac, "graphed", without_graphs)
    for name, weights in trained(config, change).items():
        torch.testing.assert_close(with_graphs[name], weights, rtol=1e-4, atol=1e-5)


def trained(config: PaacConfig, *changes: RequestedChange) -> dict[str, torch.Tensor]:
    """Train, apply the changes during training, and return the weights."""
    run = NullRun(device=devices.resolve("cuda"), changes=list(changes))
    paac.train(config.model_copy(), run)
    return {name: weights.cpu() for name, weights in run.saved[-1].component("network").items()}


@needs_gpu
@pytest.mark.parametrize("centered", [False, True])
def test_ga3c_learns_and_predicts_the_same_with_and_without_graphs(
    centered: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = Ga3cConfig(env="ALE/Pong-v5", min_training_batch=6, total_steps=1_000, centered_inputs=centered)
    weights, predictions = learned(config)
    monkeypatch.setattr(ga3c, "graphed", without_graphs)
    expected_weights, expected_predictions = learned(config)
    torch.testing.assert_close(weights, expected_weights, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(predictions, expected_predictions, rtol=1e-4, atol=1e-5)


@needs_gpu
def test_ga3cs_predictors_and_trainers_can_use_graphs_concurrently() -> None:
    threads, rows_of_one = 3, 20
    config = Ga3cConfig(env="ALE/Pong-v5", min_training_batch=6, total_steps=10_000, learning_rate=1e-30)
    model, table = made_model(config), made_experiences(config, agents=threads * rows_of_one // 5)

    def predict(first_row: int) -> None:
        draw = random.Random(first_row)
        for _ in range(150):
            model.predict(table, draw.sample(range(first_row, first_row + rows_of_one), draw.randint(1, rows_of_one)))
        model.predict(table, list(range(first_row, first_row + rows_of_one)))

    def train() -> None:
        batch = TrainingBatch(table, config)
        for update in range(60):
            gather(batch, update)
            model.train(batch)

    with ThreadPoolExecutor() as pool:
        predicting = [pool.submit(predict, thread * rows_of_one) for thread in range(threads)]
        for future in [*predicting, pool.submit(train), pool.submit(train)]:
            future.result()
    rows = threads * rows_of_one
    # The learning rate is too small to change the predictions.
    alone = made_experiences(config, agents=threads * rows_of_one // 5)
    made_model(config).predict(alone, list(range(rows)))
    torch.testing.assert_close(table.predictions[:rows], alone.predictions[:rows], rtol=1e-4, atol=1e-5)


def without_graphs(work: Callable[..., Any], _: torch.device) -> Callable[..., Any]:
    """Replace `graphed`: copy CPU tensors to the GPU and launch the kernels one by one."""

    def plain(*arguments: Any) -> Any:
        return work(*(each.cuda() if isinstance(each, torch.Tensor) else each for each in arguments))

    return plain


def learned(config: Ga3cConfig) -> tuple[torch.Tensor, torch.Tensor]:
    """Alternate predictions and updates with batches of changing size. Return the weights and the last predictions."""
    model, table = made_model(config), made_experiences(config)
    batch = TrainingBatch(table, config)
    for update in range(8 * WARM_UP_CALLS):
        model.predict(table, list(range(1 + update % 7)))
        gather(batch, update)
        model.train(batch)
    model.predict(table, list(range(10)))
    return model.parameters.values.cpu(), table.predictions[:10].clone()


def gather(batch: TrainingBatch, update: int) -> None:
    """Fill a batch with the first rollouts of two agents, of 6 or 7 rows in total."""
    batch.clear()
    for submission in (Submission(0, 5, 0, 0.0), Submission(10, 1 + update % 2, 0, 0.0)):
        batch.add(submission)


def made_model(config: Ga3cConfig) -> Model:
    torch.manual_seed(1)
    network = networks.build(config, SHAPE, Discrete(ACTIONS), torch.float32).to("cuda")
    return Model(config, network, torch.device("cuda"))


def made_experiences(config: Ga3cConfig, agents: int = 2) -> Experiences:
    table, generator = Experiences.allocate(config, agents, SHAPE, ACTIONS), torch.Generator().manual_seed(0)
    table.states[:] = torch.randint(256, table.states.shape, dtype=torch.uint8, generator=generator)
    table.actions[:] = torch.randint(ACTIONS, table.actions.shape, generator=generator)
    table.returns[:] = torch.randn(table.returns.shape, generator=generator)
    table.versions[:] = 0
    return table
