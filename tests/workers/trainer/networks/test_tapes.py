"""Tests of tapes against autograd over an ordinary forward pass."""

import sys

import pytest
import torch
from torch import Tensor

from arcadia_workers.contract.config import Activation
from arcadia_workers.contract.games import ARCHITECTURES
from arcadia_workers.trainer.learning.optimizers import FlatParameters
from arcadia_workers.trainer.networks.bodies import PixelBody, VectorBody
from arcadia_workers.trainer.networks.gradients import ALONE, SideBySide
from arcadia_workers.trainer.networks.outputs import Tape

ROWS = 12


def made(network: str, dtype: torch.dtype) -> tuple[PixelBody, Tensor, Tensor]:
    """Return a body, states and a gradient of their features."""
    torch.manual_seed(1)
    body = PixelBody((4, 84, 84), *ARCHITECTURES[network]).to(dtype)
    states = body.prepare(torch.randint(0, 256, (ROWS, 4, 84, 84), dtype=torch.uint8))
    return body, states, torch.randn(ROWS, body.features).to(dtype)


def shown(tape: Tape, states: Tensor) -> Tensor:
    """Act on all states in batches of unequal size."""
    tape.rewind()
    return torch.cat([tape.act(batch) for batch in states.split([3, 4, 5])])


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["float32", "bfloat16"])
@pytest.mark.parametrize("network", ["nips", "nature", "large-stride-3"])
def test_kept_features_have_the_gradients_of_an_ordinary_forward_pass(network: str, dtype: torch.dtype) -> None:
    body, states, gradient = made(network, dtype)
    tape = Tape(body, ROWS)
    expected = body(states)
    wanted = torch.autograd.grad(expected, list(body.parameters()), gradient)

    acted = shown(tape, states)
    features = tape.features(states)
    found = torch.autograd.grad(features, list(body.parameters()), gradient)

    near = 1e-5 if dtype is torch.float32 else 0.02
    torch.testing.assert_close(acted, expected.detach(), rtol=near, atol=near)
    torch.testing.assert_close(features, expected, rtol=near, atol=near)
    FlatParameters(body)  # allocates the gradients in float32
    tape.backward(states, gradient)
    for ours, theirs, written in zip(found, wanted, body.parameters(), strict=True):
        assert (ours - theirs).norm() <= near * theirs.norm()
        assert written.grad is not None
        assert written.grad.dtype is torch.float32
        assert torch.equal(ours, written.grad.to(dtype))


def test_gradients_of_streams_are_scaled_as_without_a_tape() -> None:
    torch.manual_seed(1)
    body = PixelBody((4, 84, 84), *ARCHITECTURES["nips"], streams=2)
    states, gradient = torch.randint(256, (ROWS, 4, 84, 84)).float(), torch.randn(ROWS, body.features)
    tape = Tape(body, ROWS)
    tape.act(states)
    wanted = torch.autograd.grad(body(states), list(body.parameters()), gradient)
    for ours, theirs in zip(tape.gradients(states, gradient), wanted, strict=True):
        assert (ours - theirs).norm() <= 1e-5 * theirs.norm()


def test_gradients_with_several_threads_are_reproducible() -> None:
    body, states, gradient = made("nips", torch.float32)
    found: list[list[Tensor]] = []
    for threads in (1, 3, 3):
        tape = Tape(body, ROWS, SideBySide(threads))
        shown(tape, states)
        found.append(list(torch.autograd.grad(tape.features(states), list(body.parameters()), gradient)))

    alone, together, again = found
    for one, three, repeated in zip(alone, together, again, strict=True):
        torch.testing.assert_close(one, three, rtol=1e-3, atol=1e-4)
        assert torch.equal(three, repeated)


def test_concurrent_threads_write_only_their_rows() -> None:
    body, states, gradient = made("nips", torch.float32)
    halves = SideBySide(2)
    found: list[list[Tensor]] = []
    for together in (False, True):
        tape = Tape(body, ROWS, halves)
        rows = [slice(0, 7), slice(7, ROWS)]
        if together:
            acted = halves.map(lambda row: tape.act(states[row], row), rows)  # noqa: B023, used only in this iteration
        else:
            acted = [tape.act(states[row]) for row in rows]
        assert torch.equal(tape.recall(), torch.cat(acted))
        found.append(list(torch.autograd.grad(tape.features(states), list(body.parameters()), gradient)))
    for one, two in zip(*found, strict=True):
        assert torch.equal(one, two)


def test_a_rewound_tape_keeps_only_the_new_states() -> None:
    body, states, gradient = made("nips", torch.float32)
    tape = Tape(body, ROWS)
    shown(tape, states.flip(0))
    body.hidden.weight.data.mul_(1.1)

    shown(tape, states)

    wanted = torch.autograd.grad(body(states), list(body.parameters()), gradient)
    found = torch.autograd.grad(tape.features(states), list(body.parameters()), gradient)
    for ours, theirs in zip(found, wanted, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)


def test_a_replay_has_the_gradients_of_a_forward_pass_with_the_current_weights() -> None:
    body, states, gradient = made("nips", torch.float32)
    tape = Tape(body, ROWS, SideBySide(2))
    shown(tape, states)
    body.hidden.weight.data.mul_(1.1)

    for batch in (states, states[3:8]):
        wanted = torch.autograd.grad(body(batch), list(body.parameters()), gradient[: len(batch)])
        features = tape.replay(batch)
        torch.testing.assert_close(features, body(batch), rtol=1e-5, atol=1e-5)
        found = torch.autograd.grad(features, list(body.parameters()), gradient[: len(batch)])
        for ours, theirs in zip(found, wanted, strict=True):
            torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)


def test_a_tape_refuses_to_recall_states_that_it_has_not_seen() -> None:
    body, states, _ = made("nips", torch.float32)
    tape = Tape(body, ROWS)
    tape.act(states[:5])
    with pytest.raises(ValueError, match="stores 5 states, but 12 were given"):
        tape.features(states)


@pytest.mark.parametrize("activation", ["tanh", "relu"])
def test_a_tape_of_vectors_has_the_gradients_of_an_ordinary_forward_pass(activation: Activation) -> None:
    body = VectorBody((4,), 8, layers=3, activation=activation)
    tape, states, gradient = Tape(body, ROWS), torch.randn(ROWS, 4), torch.randn(ROWS, 8)
    wanted = torch.autograd.grad(body(states), list(body.parameters()), gradient)

    # A batch that is multiplied in parts may be summed in a different order.
    torch.testing.assert_close(shown(tape, states), body(states))
    torch.testing.assert_close(tape.recall(), body(states))
    FlatParameters(body)
    tape.backward(states, gradient)
    found = torch.autograd.grad(tape.features(states), list(body.parameters()), gradient)
    for parameter, ours, theirs in zip(body.parameters(), found, wanted, strict=True):
        torch.testing.assert_close(parameter.grad, theirs)
        torch.testing.assert_close(ours, theirs)


def test_a_tape_of_vectors_does_not_import_a_slow_torch_module(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch.fx.experimental.symbolic_shapes", None)
    body, states = VectorBody((4,), 8), torch.randn(ROWS, 4)
    FlatParameters(body)
    tape = Tape(body, ROWS)
    tape.act(states)
    tape.backward(states, torch.randn(ROWS, 8))
    assert any(parameter.grad is not None and parameter.grad.any() for parameter in body.parameters())


@pytest.mark.parametrize("network", ["nips", "large-stride-3"])
def test_means_of_inputs_do_not_depend_on_the_number_of_threads(network: str) -> None:
    body, states, _ = made(network, torch.float32)
    found: list[list[Tensor]] = []
    for side_by_side in (ALONE, SideBySide(threads=3)):
        tape = Tape(body, ROWS, side_by_side)
        tape.act(states[:4])
        tape.act(states[4:11])
        found.append(tape.input_means(states))
    newest = body.prepare(states)[:11, -(states.shape[1] // 4) :]
    assert found[0][0].item() == pytest.approx(newest.mean().item() / 255)
    for alone, shared in zip(*found, strict=True):
        torch.testing.assert_close(alone, shared)
