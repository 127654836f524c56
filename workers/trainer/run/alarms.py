"""Alarms for metrics that mean that a run can no longer learn."""

from collections.abc import Iterator, Mapping

from workers.contract.metrics import DEAD_UNITS


class DeadLayerAlarm:
    """Alarm that warns once about each layer that has died."""

    def __init__(self) -> None:
        self._living = list(DEAD_UNITS)

    def check(self, values: Mapping[str, float]) -> Iterator[str]:
        """Return a warning for each layer whose units are all dead for the first time."""
        for metric in [metric for metric in self._living if values.get(metric.name, 0) >= 1]:
            self._living.remove(metric)
            layer = metric.title.removeprefix("Dead in ")
            yield (
                f"All units of {layer} are dead: no recent state activated them, so the network cannot distinguish "
                "states and no gradient reaches them. This run will hardly learn anything more. Start it again, or "
                "fork it from an earlier checkpoint, with a smaller learning rate, a larger ε in the optimizer or, "
                "where the method has the setting, centered inputs."
            )
