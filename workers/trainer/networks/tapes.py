"""Tapes, which store a body's outputs while it acts, so that learning needs no second forward pass.

The weights do not change during a rollout, so a second forward pass would repeat the outputs of acting. A tape stores
those outputs row by row, and one backward pass with hand-written gradients covers all rows.
"""

from typing import Any, cast

import torch
from torch import Tensor

from workers.trainer.networks.bodies import Body, PixelBody
from workers.trainer.networks.gradients import gradient_of
from workers.trainer.networks.outputs import PixelOutputs, VectorOutputs
from workers.trainer.networks.side_by_side import ALONE, SideBySide


class Tape:
    """Outputs of a body's layers, one row for each of at most `rows` states. Several threads may act concurrently."""

    def __init__(self, body: Body, rows: int, side_by_side: SideBySide = ALONE) -> None:
        self.body = body
        self._outputs = (
            PixelOutputs(body, rows, side_by_side) if isinstance(body, PixelBody) else VectorOutputs(body, rows)
        )
        self._side_by_side = side_by_side
        self._parameters = list(body.parameters())
        self.rewind()

    def rewind(self) -> None:
        """Clear the tape, because the weights have changed."""
        self._kept: list[slice] = []
        self._next = 0
        self._outputs.forget_weights()

    @torch.no_grad()
    def act(self, states: Tensor, rows: slice | None = None) -> Tensor:
        """Return the features of some states, and store every layer's output in these rows, by default the next."""
        if rows is None:
            rows = slice(self._next, self._next + len(states))
            self._next = rows.stop
        self.mark(rows)
        return self.keep(states, rows)

    def mark(self, rows: slice) -> None:
        """Mark these rows as stored."""
        self._kept.append(rows)

    @torch.no_grad()
    def keep(self, states: Tensor, rows: slice) -> Tensor:
        """Return the features of some states, and store every layer's output in these rows without marking them."""
        return self._outputs.keep(states, rows)

    def replay(self, states: Tensor) -> Tensor:
        """Rewind, act in all these states concurrently, and return their features attached to autograd.

        Methods that learn several times from one rollout call it for each minibatch.
        """
        self.rewind()
        self._side_by_side(lambda rows: self.keep(states[rows], rows), len(states))
        self.mark(slice(0, len(states)))
        return self.features(states)

    def recall(self) -> Tensor:
        """Return the stored features of all states since the last `rewind`."""
        return self._outputs.features[: self._filled].detach()

    def input_means(self, states: Tensor) -> list[Tensor]:
        """Return the mean of each layer's inputs over all stored states, per channel. For pixels it is one number."""

        @torch.no_grad()  # applies only to the thread that enters it
        def weighted(rows: slice) -> list[Tensor]:
            share = (rows.stop - rows.start) / self._filled
            return [mean * share for mean in self._outputs.input_means(states, rows)]

        return [torch.stack(parts).sum(0) for parts in zip(*self._side_by_side(weighted, self._filled), strict=True)]

    def features(self, states: Tensor) -> Tensor:
        """Return the stored features attached to autograd, which can then compute the body's gradients."""
        if self._filled != len(states):
            raise ValueError(f"the tape stores {self._filled} states, but {len(states)} were given")
        return cast(Tensor, _Recalled.apply(self, states, *self._parameters))  # type: ignore[no-untyped-call]

    @torch.no_grad()
    def backward(self, states: Tensor, gradient: Tensor) -> None:
        """Write the gradients of the body's parameters into their buffers, given the gradient of the features."""
        self._outputs.write_gradients([gradient_of(each) for each in self._parameters], states, gradient)

    @torch.no_grad()
    def gradients(self, states: Tensor, gradient: Tensor) -> list[Tensor]:
        """Return the gradients of the body's parameters, in their order, given the gradient of the features."""
        found = [torch.empty_like(parameter) for parameter in self._parameters]
        self._outputs.write_gradients(found, states, gradient)
        return found

    @property
    def _filled(self) -> int:
        return sum(rows.stop - rows.start for rows in self._kept)


class _Recalled(torch.autograd.Function):
    """Autograd function for stored features. Its backward pass takes the body's gradients from the tape."""

    @staticmethod
    def forward(ctx: Any, tape: Tape, states: Tensor, *_: Tensor) -> Tensor:
        ctx.tape, ctx.states = tape, states
        return tape.recall()

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        return None, None, *ctx.tape.gradients(ctx.states, gradient)
