"""Updates that ignore the mean of a layer's inputs.

Screens and the outputs of rectifiers are never negative. So a layer's gradient moves all weights of a unit in the same
direction (LeCun et al. 1998, "Efficient BackProp", section 4.3), and with them the unit's output for every state.
RMSProp makes each of these steps as long as the learning rate. A few in a row close a rectifier on every state, and
no gradient opens it again.
"""

from collections.abc import Sequence

from torch import Tensor, nn

from workers.trainer.learning.optimizers import Correction, FlatParameters

# The window of the running means of an actor-learner and of GA3C. One of their updates may have only a few successive
# states of one game, whose mean is not that of all states.
STATES_OF_A_MEAN = 200


class Centering:
    """Correction that makes layers learn as if they read x − c, where c is the (running) mean of their inputs.

    Wx + b = W(x − c) + b′ where b′ = b + Wc. In the gradients of W and b′, only that of W differs: by −Δb·cᵀ. A step
    that changes W and b′ changes b by Δb′ − ΔW·c. The network itself is the same for any c. Only b′ learns from what
    a state has in common with c.
    """

    def __init__(self, body: nn.Module, parameters: FlatParameters) -> None:
        self._gradients = parameters.gradients
        self._means: list[Tensor] = []
        place = {id(parameter): parameters.places[name] for name, parameter in parameters.module.named_parameters()}
        layers = [layer for layer in body.modules() if isinstance(layer, nn.Conv2d | nn.Linear)]
        # For each layer: the number of units, and the slices of its weight and bias.
        self._layers = [(len(layer.weight), place[id(layer.weight)], place[id(layer.bias)]) for layer in layers]

    def center(self, means: Sequence[Tensor], states: int = STATES_OF_A_MEAN) -> Correction:
        """Center the gradients, given the means of each layer's inputs. Return the correction of the step.

        Means over many games are used directly. Means over only `states` states update the running means with the
        weight states / STATES_OF_A_MEAN.
        """
        share = min(1.0, states / STATES_OF_A_MEAN)
        running = self._means = self._means or [mean.clone() for mean in means]
        for kept, mean in zip(running, means, strict=True):
            kept.lerp_(mean, share)  # in place, as a CUDA graph needs it
        layers = self._rows_of(self._gradients)
        # A convolution reads each channel at several places.
        rows = [mean.repeat(weight.shape[1] // len(mean)) for mean, (weight, _) in zip(running, layers, strict=True)]
        for (of_weight, of_bias), row in zip(layers, rows, strict=True):
            of_weight.addr_(of_bias, row, alpha=-1)

        def correct(step: Tensor) -> None:
            for (weight, bias), row in zip(self._rows_of(step), rows, strict=True):
                bias.addmv_(weight, row, alpha=-1)

        return correct

    def _rows_of(self, flat: Tensor) -> list[tuple[Tensor, Tensor]]:
        """Return each layer's weight, a row for each unit, and its bias in a buffer like that of the parameters."""
        return [(flat[weight].view(units, -1), flat[bias]) for units, weight, bias in self._layers]
