"""Marker for configuration fields that can change while a run trains."""

from typing import Any


def changeable(reason: str) -> dict[str, Any]:
    """Return the JSON schema entry of a field that a live run can change, with the reason why that is safe."""
    return {"changeable": reason}


# The next update uses the new value, and no stored state depends on the old one.
NEXT_UPDATE = changeable("The next update uses it.")
DECAYING = changeable("Its value depends on the step and the total steps, so the next update uses the new one.")
SCHEDULE = changeable("It does not affect what the agent learns.")
LENGTH = changeable("Training ends at the new step. Decays over all steps follow the new total from the next update.")
