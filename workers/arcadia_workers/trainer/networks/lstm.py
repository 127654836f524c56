"""LSTM cells that act step by step in one environment, and their backward pass through those steps."""

import torch
from torch import Tensor, nn

from arcadia_workers.trainer.networks.gradients import gradient_of

Cells = tuple[Tensor, Tensor]
"""h and c, each (1, cells), or with a row for each of several environments."""

Gates = tuple[Tensor, Tensor]
"""o, i and f side by side, and g."""


class Lstm(nn.Module):
    """o, i, f = σ(…), g = tanh(…);  c ← f·c + i·g;  h ← o·tanh c.

    torch's LSTM rearranges its weights in every call. With one step per call, this takes twenty times as long as
    the step.
    """

    def __init__(self, features: int, cells: int) -> None:
        super().__init__()
        bound = cells**-0.5
        self.cells = cells
        # The rows hold o, i, f and g, a quarter each.
        self.weight_ih = nn.Parameter(torch.empty(4 * cells, features).uniform_(-bound, bound))
        self.weight_hh = nn.Parameter(torch.empty(4 * cells, cells).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(4 * cells).uniform_(-bound, bound))

    def forward(self, features: Tensor, before: Cells) -> tuple[Tensor, Cells]:
        """Return h (t, cells) after each of t successive steps, and the last h and c."""
        steps = []
        for x in features.split(1):
            before = self.step(x, before)
            steps.append(before[0])
        return torch.cat(steps), before

    def step(self, x: Tensor, before: Cells) -> Cells:
        """Return h and c after one step, with one row per environment."""
        return _after(self.gates(x, before[0]), before[1])

    def unroll(self, x: Tensor, before: Cells, openings: Tensor) -> Tensor:
        """Return h (t, n, cells) after each of t successive steps in n environments.

        `openings` (t, n) marks the steps before which the cells are cleared, because an episode begins.
        """
        inputs = torch.addmm(self.bias, x.flatten(0, 1), self.weight_ih.t()).view(*x.shape[:2], -1)
        steps = []
        for row, opens in zip(inputs, openings, strict=True):
            h, c = cleared(before, opens)
            before = _after(self._activated(torch.addmm(row, h, self.weight_hh.t())), c)
            steps.append(before[0])
        return torch.stack(steps)

    def gates(self, x: Tensor, h: Tensor) -> Gates:
        """Return o, i and f side by side, and g."""
        return self._activated(torch.addmm(torch.addmm(self.bias, x, self.weight_ih.t()), h, self.weight_hh.t()))

    def _activated(self, sums: Tensor) -> Gates:
        return sums[:, : 3 * self.cells].sigmoid(), sums[:, 3 * self.cells :].tanh()

    def sensitivity(self, x: Tensor) -> Tensor:
        """Return the sensitivity of h to the inputs of a cell's gates in each state, as if an episode began there.

        It is |∂h/∂o| + |∂h/∂i| + |∂h/∂g|. The gate f has nothing to forget yet.
        """
        gates, g = self.gates(x, x.new_zeros(len(x), self.cells))
        o, i, _ = gates.chunk(3, dim=1)
        held = (i * g).tanh()
        through_c = o * (1 - held * held)
        return o * (1 - o) * held.abs() + through_c * (i * (1 - i) * g.abs() + i * (1 - g * g))


def cleared(cells: Cells, openings: Tensor) -> Cells:
    """Return h and c with zeros for the environments in which an episode begins."""
    opens = openings.unsqueeze(-1)
    return cells[0].masked_fill(opens, 0), cells[1].masked_fill(opens, 0)


def _after(gates: Gates, c: Tensor) -> Cells:
    o, i, f = gates[0].chunk(3, dim=1)
    c = f * c + i * gates[1]
    return o * c.tanh(), c


class LstmTape:
    """Tape of the cells' forward passes, so that learning needs no second one."""

    def __init__(self, lstm: Lstm) -> None:
        self._lstm = lstm

    def rewind(self, before: Cells) -> None:
        """Clear the tape and continue from these cells."""
        self.memory = self._begun = before
        self._x: list[Tensor] = []
        self._gates: list[Tensor] = []
        self._g: list[Tensor] = []
        self._h: list[Tensor] = []
        self._c: list[Tensor] = []

    @torch.no_grad()
    def act(self, x: Tensor) -> Tensor:
        """Take one step and return h."""
        gates, g = self._lstm.gates(x, self.memory[0])
        o, i, f = gates.chunk(3, dim=1)
        c = torch.addcmul(f * self.memory[1], i, g)
        h = o * c.tanh()
        self.memory = (h, c)
        self._x.append(x)
        self._gates.append(gates)
        self._g.append(g)
        self._h.append(h)
        self._c.append(c)
        return h

    def recall(self) -> Tensor:
        """Return h of all steps."""
        return torch.cat(self._h)

    @torch.no_grad()
    def backward(self, of_h: Tensor) -> Tensor:
        """Write the gradients of the weights, given that of h, and return the gradient of x.

        Backpropagation stops at the beginning of the rollout.
        """
        steps, cells = of_h.shape
        o, i, f = torch.cat(self._gates).chunk(3, dim=1)
        g, c = torch.cat(self._g), torch.cat([self._begun[1], *self._c])
        before, after = c[:-1], c[1:].tanh()
        # Factors that propagate the gradients of h and c to the inputs of the activations of o, i, f and g.
        from_h = (after * o * (1 - o)).unbind()
        from_c = torch.stack((g * i * (1 - i), before * f * (1 - f), i * (1 - g * g)), dim=1).unbind()
        to_c, kept_of_c, of_h_rows = (o * (1 - after * after)).unbind(), f.unbind(), of_h.unbind()
        of_sums = torch.empty(steps, 4, cells)
        of_o, of_others, all_rows = of_sums[:, 0].unbind(), of_sums[:, 1:].unbind(), of_sums.view(steps, -1).unbind()
        of_next_h = of_next_c = torch.zeros(cells)
        for t in reversed(range(steps)):
            dh = of_h_rows[t] + of_next_h
            dc = torch.addcmul(of_next_c, dh, to_c[t])
            torch.mul(dh, from_h[t], out=of_o[t])
            torch.mul(dc, from_c[t], out=of_others[t])
            of_next_h = torch.mv(self._lstm.weight_hh.t(), all_rows[t])
            of_next_c = dc * kept_of_c[t]
        sums, h = of_sums.view(steps, -1), torch.cat([self._begun[0], *self._h[:-1]])
        torch.mm(sums.t(), torch.cat(self._x), out=gradient_of(self._lstm.weight_ih))
        torch.mm(sums.t(), h, out=gradient_of(self._lstm.weight_hh))
        torch.sum(sums, 0, out=gradient_of(self._lstm.bias))
        return sums @ self._lstm.weight_ih
