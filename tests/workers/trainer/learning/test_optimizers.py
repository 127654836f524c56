"""Tests of optimizers against their equations and of flat buffers against their modules."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from arcadia_workers.trainer.learning.optimizers import Adam, FlatParameters, MomentumSGD, RMSProp, clip_to_norm
from arcadia_workers.trainer.networks.gradients import SideBySide


def test_rmsprop_follows_equation_1() -> None:
    torch.manual_seed(0)
    module = nn.Linear(3, 2)
    parameters = FlatParameters(module)
    theta = parameters.values.tolist()
    mean_square = [1.0] * len(theta)
    optimizer = RMSProp(parameters, decay=0.9, epsilon=0.1)

    for step in range(5):
        gradient = torch.linspace(-2, 2, len(theta)) * (step + 1)
        parameters.gradients.copy_(gradient)
        optimizer.step(learning_rate=0.01)
        for i, g in enumerate(gradient.tolist()):
            mean_square[i] = 0.9 * mean_square[i] + 0.1 * g * g
            theta[i] -= 0.01 * g / math.sqrt(mean_square[i] + 0.1)

    torch.testing.assert_close(parameters.values.tolist(), theta, rtol=1e-5, atol=1e-7)


def test_shared_rmsprop_follows_equation_1_with_one_g_and_one_theta_for_all() -> None:
    shared = FlatParameters(nn.Linear(2, 1)).values
    mean_square = RMSProp.beginning(shared)
    actors = [RMSProp(FlatParameters(nn.Linear(2, 1), shared), 0.9, 0.1, mean_square) for _ in range(2)]
    theta, g = shared.tolist(), [1.0] * 3

    for step in range(6):
        optimizer = actors[step % 2]
        gradient = torch.linspace(-1, 3, 3) * (step + 1)
        optimizer.parameters.gradients.copy_(gradient)
        optimizer.step(learning_rate=0.05)
        for i, each in enumerate(gradient.tolist()):
            g[i] = 0.9 * g[i] + 0.1 * each * each
            theta[i] -= 0.05 * each / math.sqrt(g[i] + 0.1)

    torch.testing.assert_close(shared.tolist(), theta, rtol=1e-5, atol=1e-7)
    torch.testing.assert_close(mean_square.tolist(), g)


def test_adam_takes_the_same_steps_as_torchs_adam() -> None:
    torch.manual_seed(0)
    module, reference = nn.Linear(3, 2), nn.Linear(3, 2)
    reference.load_state_dict(module.state_dict())
    parameters = FlatParameters(module)
    optimizer = Adam(parameters, (0.8, 0.99), epsilon=0.01, side_by_side=SideBySide(2))
    theirs = torch.optim.Adam(reference.parameters(), lr=0.1, betas=(0.8, 0.99), eps=0.01)

    for step in range(5):
        x = torch.randn(4, 3) * (step + 1)
        parameters.backward(module(x).square().sum())
        optimizer.step(learning_rate=0.1 if step else torch.tensor(0.1))
        theirs.zero_grad()
        reference(x).square().sum().backward()
        theirs.step()

    for ours, expected in zip(module.parameters(), reference.parameters(), strict=True):
        torch.testing.assert_close(ours, expected, rtol=1e-5, atol=1e-6)


def test_adam_continues_from_its_statistics() -> None:
    torch.manual_seed(0)
    first, second = (Adam(FlatParameters(nn.Linear(3, 2))) for _ in range(2))

    def step(optimizer: Adam, scale: float) -> None:
        optimizer.parameters.gradients.copy_(torch.linspace(-1, 1, 8) * scale)
        optimizer.step(learning_rate=0.01)

    step(first, 1)
    second.parameters.take_over(first.parameters)
    for name, tensor in second.statistics().items():
        tensor.copy_(first.statistics()[name])
    for optimizer in (first, second):
        step(optimizer, 3)

    assert torch.equal(first.parameters.values, second.parameters.values)


def test_momentum_sgd_follows_its_equation() -> None:
    parameters = FlatParameters(nn.Linear(2, 1))
    optimizer = MomentumSGD(parameters, momentum=0.8)
    theta, m = parameters.values.tolist(), [0.0] * 3

    for step in range(5):
        gradient = torch.linspace(-2, 2, 3) * (step + 1)
        parameters.gradients.copy_(gradient)
        optimizer.step(learning_rate=0.01)
        for i, each in enumerate(gradient.tolist()):
            m[i] = 0.8 * m[i] + (1 - 0.8) * each
            theta[i] -= 0.01 * m[i]

    torch.testing.assert_close(parameters.values.tolist(), theta, rtol=1e-5, atol=1e-7)


def test_an_actor_learner_sees_updates_of_others_only_after_copying_theta() -> None:
    shared = FlatParameters(nn.Linear(2, 1)).values
    theta = FlatParameters(nn.Linear(2, 1), shared)
    assert torch.equal(torch.cat([p.detach().flatten() for p in theta.module.parameters()]), shared)

    before = shared.clone()
    shared.add_(1)
    assert torch.equal(torch.cat([p.detach().flatten() for p in theta.module.parameters()]), before)

    theta.changed()
    assert torch.equal(torch.cat([p.detach().flatten() for p in theta.module.parameters()]), shared)


def test_a_copy_of_theta_may_be_partly_in_bfloat16() -> None:
    def made() -> nn.Module:
        return nn.Sequential(nn.Linear(2, 3).to(torch.bfloat16), nn.Linear(3, 1))

    shared = FlatParameters(made()).values
    theta = FlatParameters(made(), shared)
    shared.copy_(torch.arange(len(shared)) / 7)
    theta.changed()

    copied = torch.cat([p.detach().flatten().float() for p in theta.module.parameters()])
    border = 2 * 3 + 3
    assert torch.equal(copied[:border], shared[:border].bfloat16().float())
    assert torch.equal(copied[border:], shared[border:])
    x = torch.ones(1, 2, dtype=torch.bfloat16)
    layers = list(theta.module.children())
    theta.backward(layers[1](layers[0](x).float()).sum())
    expected = torch.autograd.grad(layers[1](layers[0](x).float()).sum(), list(theta.module.parameters()))
    torch.testing.assert_close(theta.gradients, torch.cat([gradient.flatten().float() for gradient in expected]))


def test_flat_buffers_contain_the_modules_values_and_gradients() -> None:
    torch.manual_seed(0)
    convolution = nn.Conv2d(3, 4, 2)
    reference = nn.Conv2d(3, 4, 2)
    reference.load_state_dict(convolution.state_dict())
    pixels = torch.randn(2, 3, 5, 5)
    parameters = FlatParameters(convolution)

    parameters.backward(convolution(pixels).square().sum())
    reference(pixels).square().sum().backward()
    parameters.values.sub_(parameters.gradients, alpha=0.1)

    for ours, theirs in zip(convolution.parameters(), reference.parameters(), strict=True):
        assert ours.grad is not None
        assert theirs.grad is not None
        torch.testing.assert_close(ours.grad, theirs.grad)
        torch.testing.assert_close(ours.detach(), theirs.detach() - 0.1 * theirs.grad)


def test_a_backward_pass_replaces_the_gradients_of_the_previous_one() -> None:
    module = nn.Linear(2, 1)
    parameters = FlatParameters(module)
    for _ in range(2):
        parameters.backward(module(torch.ones(1, 2)).sum())
    assert sorted(parameters.gradients.tolist()) == [1.0, 1.0, 1.0]


def test_parameters_that_the_loss_does_not_use_are_named_or_get_no_gradient() -> None:
    module = nn.ModuleDict({"policy": nn.Linear(2, 1), "value": nn.Linear(2, 1)})
    parameters = FlatParameters(module)
    loss = module["policy"](torch.ones(1, 2)).sum()
    with pytest.raises(ValueError, match=r"does not depend on value\.weight, value\.bias: .* allow_unused=True"):
        parameters.backward(loss)
    parameters.gradients.fill_(7.0)
    parameters.backward(module["policy"](torch.ones(1, 2)).sum(), allow_unused=True)
    gradients = parameters.named_in(parameters.gradients)
    assert gradients["policy.weight"].tolist() == [[1.0, 1.0]]
    assert gradients["value.weight"].tolist() == [[0.0, 0.0]]


def test_steps_too_small_for_bfloat16_still_add_up() -> None:
    module = nn.Linear(1, 1, bias=False).to(torch.bfloat16)
    parameters = FlatParameters(module)
    parameters.load({"weight": torch.tensor([[1.0]])})
    for _ in range(100):  # bfloat16 has no number between 1 and 1.0078
        parameters.values.add_(0.001)
        parameters.changed()
    assert abs(module.weight.item() - 1.1) < 0.005
    torch.testing.assert_close(parameters.named()["weight"], torch.tensor([[1.1]]))


def test_a_network_of_another_shape_is_refused_with_the_parameters_name() -> None:
    parameters = FlatParameters(nn.Linear(2, 3))
    with pytest.raises(ValueError, match=r"weight has shape \(3, 4\), this network needs \(3, 2\)"):
        parameters.load({"weight": torch.zeros(3, 4), "bias": torch.zeros(3)})


@given(st.lists(st.floats(-1e3, 1e3, width=32), min_size=1, max_size=20), st.floats(0.01, 100))
def test_clipping_bounds_the_norm_and_keeps_the_direction(gradients: list[float], limit: float) -> None:
    before = torch.tensor(gradients)
    after = before.clone()

    norm = clip_to_norm(after, limit)

    torch.testing.assert_close(norm, before.norm())
    assert after.norm() <= limit * (1 + 1e-4)
    if norm <= limit:
        torch.testing.assert_close(after, before)
    else:
        torch.testing.assert_close(after * (norm / limit), before, rtol=1e-3, atol=1e-4)
