"""Pruning of checkpoints: keep the first, the best and the last, and others spread evenly over training."""

from collections.abc import Collection, Sequence

# Default limit for all replays of a run.
DEFAULT_REPLAYS_MEGABYTES = 500
DEFAULT_KEPT = 20
# The first, the best and the last checkpoint.
MIN_KEPT = 3


def prunable(steps: Sequence[int], most: int, spared: Collection[int] = ()) -> list[int]:
    """Return the indices of the checkpoints to delete so that at most `most` stay. Steps are ascending.

    Delete the checkpoint whose neighbors are closest to each other, and repeat. Keep the first, the last and the spared
    ones. This way the checkpoints always cover training evenly.
    """
    left = list(range(len(steps)))
    while len(left) > most:
        inner = [at for at in range(1, len(left) - 1) if left[at] not in spared]
        if not inner:
            break
        del left[min(inner, key=lambda at: steps[left[at + 1]] - steps[left[at - 1]])]
    return [place for place in range(len(steps)) if place not in left]
