"""Settings that fall during training."""

from workers.contract.config.fields import Decay


def decayed(initial: float, decay: Decay, step: int, total_steps: int) -> float:
    """Return what a setting has come to at a step: it falls linearly to zero, over all steps or the last third."""
    left = max(0.0, 1 - step / total_steps)
    shares = {"linear": left, "late": min(1.0, 3 * left), "none": 1.0}
    return initial * shares[decay]
