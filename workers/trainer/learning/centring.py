"""Updates that leave out what all of a layer's inputs have in common.

Screens and the outputs of rectifiers are never negative. So a layer's gradient moves all weights of a unit in the same
direction (LeCun et al. 1998, "Efficient BackProp", section 4.3), and with them what the unit computes for every state.
RMSProp makes each of these many steps as long as the learning rate. A few in a row close a rectifier on every state,
and no gradient opens it again.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from torch import Tensor, nn

from workers.trainer.learning.optimizers import FlatParameters


class Centring:
    """Has the layers of one or several bodies learn as if they read x − c, c being the mean of their inputs.

    Wx + b = W(x − c) + b′ where b′ = b + Wc. In the gradients of W and b′, only that of W differs: by −Δb·cᵀ. When the
    optimizer has changed W and b′, b = b′ − Wc; the network itself stays as it is. Any c is exact. What others write
    to shared parameters while the optimizer steps counts as the step's: a race as those of the step itself.
    """

    def __init__(self, body: nn.Module, parameters: FlatParameters) -> None:
        self._parameters = parameters
        values, gradients = parameters.named(), parameters.named_gradients()
        names = {id(parameter): name for name, parameter in parameters.module.named_parameters()}
        layers = [layer for layer in body.modules() if isinstance(layer, nn.Conv2d | nn.Linear)]
        self._weights = [_by_row(values[names[id(layer.weight)]]) for layer in layers]
        self._biases = [values[names[id(layer.bias)]] for layer in layers]
        self._of_weights = [_by_row(gradients[names[id(layer.weight)]]) for layer in layers]
        self._of_biases = [gradients[names[id(layer.bias)]] for layer in layers]

    @contextmanager
    def update(self, means: Sequence[Tensor]) -> Iterator[None]:
        """Centre the gradients on these means of each layer's inputs; within, the optimizer takes its step."""
        # A convolution reads each channel at several places.
        rows = [mean.repeat(weight.shape[1] // len(mean)) for mean, weight in zip(means, self._weights, strict=True)]
        for of_weight, of_bias, row in zip(self._of_weights, self._of_biases, rows, strict=True):
            of_weight.addr_(of_bias, row, alpha=-1)
        before = [weight.mv(row) for weight, row in zip(self._weights, rows, strict=True)]
        yield
        for bias, weight, row, old in zip(self._biases, self._weights, rows, before, strict=True):
            bias.add_(old - weight.mv(row))  # the step changed b by as much as b′
        self._parameters.changed()


def _by_row(weight: Tensor) -> Tensor:
    """View a weight as it is stored: a row for each unit, the channels of one place side by side."""
    return (weight if weight.dim() == 2 else weight.permute(0, 2, 3, 1)).view(len(weight), -1)
