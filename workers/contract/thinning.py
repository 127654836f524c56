"""Which checkpoints stay: the first, the best, the last, and between them others spread evenly over training."""

from collections.abc import Collection, Sequence

# Of all replays and recordings of a run.
USUAL_REPLAYS_MEGABYTES = 500
USUALLY_KEPT = 20
# The first, the best and the last.
FEWEST_KEPT = 3


def spent(steps: Sequence[int], most: int, spared: Collection[int] = ()) -> list[int]:
    """Return the places, in ascending steps, of those that go so that at most so many stay.

    One after another, the checkpoint goes whose neighbours are closest to each other; the first, the last and those at
    the spared places stay. Whenever this is asked, training is covered evenly up to the last checkpoint.
    """
    left = list(range(len(steps)))
    while len(left) > most:
        inner = [at for at in range(1, len(left) - 1) if left[at] not in spared]
        if not inner:
            break
        del left[min(inner, key=lambda at: steps[left[at + 1]] - steps[left[at - 1]])]
    return [place for place in range(len(steps)) if place not in left]
