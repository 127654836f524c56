"""The training curve as a picture for the model card."""

from collections.abc import Sequence
from html import escape

WIDTH, HEIGHT = 720, 320
LEFT, RIGHT, TOP, BOTTOM = 64, 16, 32, 48
TICKS = 4
# More points would not be visible at this width.
MAX_POINTS = 200


def to_svg(points: Sequence[tuple[float, float]], title: str) -> str:
    """Draw the mean return of training episodes over emulator frames."""
    lowest, highest = min(y for _, y in points), max(y for _, y in points)
    most, span = max(x for x, _ in points) or 1, (highest - lowest) or 1

    def place(x: float, y: float) -> tuple[float, float]:
        across = LEFT + x / most * (WIDTH - LEFT - RIGHT)
        return across, HEIGHT - BOTTOM - (y - lowest) / span * (HEIGHT - TOP - BOTTOM)

    parts = [_text(LEFT, 18, title, "start"), _text((LEFT + WIDTH) / 2, HEIGHT - 8, "frames", "middle")]
    for tick in range(TICKS + 1):
        x, y = place(most * tick / TICKS, lowest + span * tick / TICKS)
        parts.append(_text(x, HEIGHT - BOTTOM + 18, f"{most * tick / TICKS:,.0f}", "middle"))
        parts.append(_text(LEFT - 8, y + 4, f"{lowest + span * tick / TICKS:.4g}", "end"))
        parts.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#8888" />')
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(*point) for point in points))
    parts.append(f'<polyline points="{line}" fill="none" stroke="#1c7ed6" stroke-width="2" />')
    size = f'width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
    background = '<rect width="100%" height="100%" fill="#fff" />'
    font = 'font-family="sans-serif" font-size="13" fill="#333"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {font}>{background}{"".join(parts)}</svg>\n'


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
