"""Settings that decay during training."""

from workers.contract.config.fields import Decay


def decayed(initial: float, decay: Decay, step: int, total_steps: int) -> float:
    """Return a setting's value at a step. It falls linearly to zero over all steps or over the last third."""
    left = max(0.0, 1 - step / total_steps)
    shares = {"linear": left, "late": min(1.0, 3 * left), "none": 1.0}
    return initial * shares[decay]
