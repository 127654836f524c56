"""Tests of the cells against torch's LSTM, and of the tape against the cells."""

import torch
from torch import Tensor, nn

from arcadia_workers.trainer.learning.optimizers import FlatParameters
from arcadia_workers.trainer.networks.lstm import Cells, Lstm, LstmTape

FEATURES, CELLS, STEPS = 3, 5, 4


def made() -> tuple[Lstm, Tensor, Cells]:
    torch.manual_seed(0)
    return Lstm(FEATURES, CELLS), torch.randn(STEPS, FEATURES), (torch.randn(1, CELLS), torch.randn(1, CELLS))


def test_the_cells_compute_the_same_as_torchs_lstm() -> None:
    lstm, x, before = made()
    theirs = nn.LSTM(FEATURES, CELLS)
    named: dict[str, Tensor] = {"bias_hh_l0": torch.zeros(4 * CELLS)}
    for name, values in lstm.state_dict().items():
        o, i, f, g = values.chunk(4)
        named["bias_ih_l0" if name == "bias" else f"{name}_l0"] = torch.cat([i, f, g, o])
    theirs.load_state_dict(named)

    h, (last_h, last_c) = lstm(x, before)
    wanted, (wanted_h, wanted_c) = theirs(x.unsqueeze(1), (before[0].unsqueeze(0), before[1].unsqueeze(0)))

    torch.testing.assert_close(h, wanted.squeeze(1))
    torch.testing.assert_close((last_h, last_c), (wanted_h[0], wanted_c[0]))


def test_the_tape_computes_the_gradients_of_a_second_forward_pass() -> None:
    lstm, x, before = made()
    parameters = FlatParameters(lstm)
    x.requires_grad_()
    h, after = lstm(x, before)
    of_h = torch.randn_like(h)
    (wanted_of_x,) = torch.autograd.grad(h, x, of_h, retain_graph=True)
    parameters.backward((h * of_h).sum())
    wanted = parameters.gradients.clone()

    tape = LstmTape(lstm)
    for _ in range(2):  # the second round checks that rewinding discards the first
        tape.rewind(before)
        acted = torch.cat([tape.act(row) for row in x.detach().split(1)])
    of_x = tape.backward(of_h)

    torch.testing.assert_close(acted, h.detach())
    torch.testing.assert_close(tape.recall(), h.detach())
    torch.testing.assert_close(tape.memory, (after[0].detach(), after[1].detach()))
    torch.testing.assert_close(parameters.gradients, wanted)
    torch.testing.assert_close(of_x, wanted_of_x)


def test_parallel_environments_equal_single_ones_and_start_episodes_with_cleared_cells() -> None:
    lstm, _, _ = made()
    x, before = torch.randn(STEPS, 2, FEATURES), (torch.randn(2, CELLS), torch.randn(2, CELLS))
    openings = torch.zeros(STEPS, 2, dtype=torch.bool)
    openings[2, 1] = openings[0, 0] = True

    h = lstm.unroll(x, before, openings)

    cells = torch.zeros(1, CELLS)
    torch.testing.assert_close(h[:, 0], lstm(x[:, 0], (cells, cells))[0])
    torch.testing.assert_close(h[:2, 1], lstm(x[:2, 1], (before[0][1:], before[1][1:]))[0])
    torch.testing.assert_close(h[2:, 1], lstm(x[2:, 1], (cells, cells))[0])
