"""Situations of a review: mistakes at moments that the agent's network sees as similar.

Two moments are similar if the inputs of the network's last layer point in nearly the same direction.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn.modules.module import register_module_forward_pre_hook

from arcadia_workers.contract.inference.means import Floats
from arcadia_workers.contract.review import ReviewedDecision, Situation
from arcadia_workers.trainer.futures.simulating import Moment
from arcadia_workers.trainer.methods.trainer import TrainedNetwork

MAX_SITUATIONS = 6
# Mistakes with smaller losses are left out, because the time grows with the cube of the number.
MAX_GROUPED = 300
# Mistakes are similar if their distance is below this share of the usual one between reviewed decisions.
SIMILAR = 0.5


class Situations:
    """Groups the mistakes of a review. It remembers the features of its decisions."""

    def __init__(self, network: TrainedNetwork, kept: Mapping[int, Moment]) -> None:
        self._network, self._kept = network, kept
        self._directions: dict[int, Floats] = {}
        self._usual: float | None = None
        self._known: tuple[list[tuple[int, float]], list[Situation]] = ([], [])

    def of(self, reviewed: Sequence[ReviewedDecision]) -> list[Situation]:
        """Return the measured mistakes by situation, the most costly situation first."""
        losses = {each.decision: float(each.loss.mean or 0) for each in reviewed if each.loss}
        costly = sorted(sorted(losses.items(), key=lambda item: -item[1])[:MAX_GROUPED])
        if costly != self._known[0]:
            self._known = costly, self._group([decision for decision, _ in costly], losses) if costly else []
        return self._known[1]

    def _group(self, decisions: Sequence[int], losses: Mapping[int, float]) -> list[Situation]:
        directions = np.stack([self._direction(decision) for decision in decisions])
        grouped = group(directions, SIMILAR * self._usual_distance())
        situations = [
            Situation(
                decisions=[decisions[row] for row in rows],
                shown=decisions[max(rows, key=lambda row: float(directions[row] @ directions[rows].sum(axis=0)))],
            )
            for rows in grouped
        ]
        return sorted(situations, key=lambda each: -sum(losses[decision] for decision in each.decisions))

    def _usual_distance(self) -> float:
        """Return the median distance between reviewed decisions."""
        if self._usual is None:
            spread = sorted(self._kept)[:: -(-len(self._kept) // MAX_GROUPED)]
            directions = np.stack([self._direction(decision) for decision in spread])
            distances = 1 - directions @ directions.T
            upper = distances[np.triu_indices(len(directions), 1)]
            self._usual = float(np.median(upper)) if len(upper) else 0.0
        return self._usual

    def _direction(self, decision: int) -> Floats:
        if decision not in self._directions:
            moment = self._kept[decision]
            features = features_of(self._network, moment)
            self._directions[decision] = features / (float(np.linalg.norm(features)) or 1.0)
        return self._directions[decision]


def group(directions: Floats, similar: float) -> list[list[int]]:
    """Group rows of length 1 by their mean cosine distance (average linkage).

    The closest groups are merged until none are similar, and no more than MAX_SITUATIONS are left.
    """
    groups = [[row] for row in range(len(directions))]
    distances = 1 - directions @ directions.T
    np.fill_diagonal(distances, np.inf)
    while len(groups) > 1:
        one, other = sorted(int(place) for place in np.unravel_index(distances.argmin(), distances.shape))
        if distances[one, other] > similar and len(groups) <= MAX_SITUATIONS:
            break
        sizes = len(groups[one]), len(groups[other])
        merged = (sizes[0] * distances[one] + sizes[1] * distances[other]) / sum(sizes)
        merged[one] = np.inf
        distances[one], distances[:, one] = merged, merged
        distances = np.delete(np.delete(distances, other, axis=0), other, axis=1)
        groups[one] = sorted(groups[one] + groups.pop(other))
    return groups


def features_of(network: TrainedNetwork, moment: Moment) -> Floats:
    """Return the input of the network's last linear layer at a moment. A plug-in may have none: return its output."""
    with _watched_inputs() as inputs:
        output, _ = network.predict(torch.from_numpy(np.asarray(moment.game.observation))[None], moment.memory)
    return (inputs[-1] if inputs else output.numbers)[0].double().numpy()


@contextmanager
def _watched_inputs() -> Iterator[list[torch.Tensor]]:
    """Collect the inputs of linear layers in the order of their calls."""
    inputs: list[torch.Tensor] = []

    def watch(module: nn.Module, given: Any) -> None:
        if isinstance(module, nn.Linear):
            inputs.append(given[0].detach())

    hook = register_module_forward_pre_hook(watch)
    try:
        yield inputs
    finally:
        hook.remove()
