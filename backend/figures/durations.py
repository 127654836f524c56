"""Ticks of a time axis at whole seconds, minutes, hours or days."""

import math

SECOND, MINUTE, HOUR, DAY = 1, 60, 3600, 86_400
STRIDES = [
    *(n * SECOND for n in (1, 2, 5, 10, 15, 30)),
    *(n * MINUTE for n in (1, 2, 5, 10, 15, 30)),
    *(n * HOUR for n in (1, 2, 4, 6, 12)),
    *(n * DAY for n in (1, 2, 5, 10, 30)),
]
MAX_TICKS = 8


def duration_ticks(low: float, high: float) -> dict[str, list[int] | list[str]]:
    """Return the ticks of an axis of seconds with their labels."""
    fitting = (stride for stride in STRIDES if (high - low) / stride < MAX_TICKS)
    stride = next(fitting, math.ceil((high - low) / MAX_TICKS / DAY) * DAY)
    places = list(range(math.ceil(low / stride) * stride, math.floor(high) + 1, stride))
    return {"tickvals": places, "ticktext": [format_duration(place) for place in places]}


def format_duration(seconds: int) -> str:
    """Format seconds in at most two units, such as 90 as 1 min 30 s."""
    parts = []
    for unit, name in ((DAY, "d"), (HOUR, "h"), (MINUTE, "min"), (SECOND, "s")):
        count, seconds = divmod(seconds, unit)
        if count:
            parts.append(f"{count} {name}")
    return " ".join(parts[:2]) or "0"
