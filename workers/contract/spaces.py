"""What an agent may do: choose one of a number of actions, or set several numbers at once."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Discrete:
    """One of `count` actions, as an int64."""

    count: int


@dataclass(frozen=True)
class Continuous:
    """As many float32 as there are bounds, each between its bounds."""

    low: tuple[float, ...]
    high: tuple[float, ...]

    @property
    def size(self) -> int:
        """Numbers in one action."""
        return len(self.low)


ActionSpace = Discrete | Continuous


def number_of_actions(actions: ActionSpace) -> int:
    """Count the actions to choose from, for methods that must choose."""
    if isinstance(actions, Continuous):
        raise TypeError(f"this method chooses among actions, but the environment takes {actions.size} numbers")
    return actions.count
