"""Figures of the server: Plotly JSON that can be drawn, converted and saved."""

from __future__ import annotations

import csv
import html
import io
import itertools
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from arcadia.errors import ArcadiaError, MissingPackageError
from arcadia.tables import import_optional

if TYPE_CHECKING:
    import plotly.graph_objects
    from matplotlib.axes import Axes


ImageFormat = Literal["png", "svg", "pdf"]

WIDTH_INCHES, HEIGHT_INCHES, DOTS_PER_INCH = 9.0, 5.0, 110
MAX_LEGEND_ENTRIES, MAX_LEGEND_COLUMNS = 20, 3
# Width of the image in letters of the legend. The line beside each entry takes the width of some letters.
LEGEND_LETTERS, LINE_LETTERS = 150, 10
_UNITS = ((1e9, "B"), (1e6, "M"), (1e3, "k"))
_DASHES = {"solid": "-", "dash": "--", "dot": ":", "dashdot": "-.", "longdash": (0, (8, 3)), "longdashdot": "-."}
_MARKERS = {"circle": "o", "square": "s", "diamond": "D", "cross": "P", "x": "X", "triangle-up": "^", "star": "*"}
_RGBA = re.compile(r"rgba?\(([^)]*)\)")
_TAG = re.compile(r"<[^>]*>")


def to_image(figure: Mapping[str, Any], image_format: ImageFormat = "png") -> bytes:
    """Draw a Plotly figure of lines, bars or a heat map. Raise MissingPackageError if Matplotlib is missing."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingPackageError("Images need Matplotlib. Install it: pip install 'arcadia-client[images]'.") from None
    image = Figure(figsize=(WIDTH_INCHES, HEIGHT_INCHES), dpi=DOTS_PER_INCH, layout="constrained")
    axes = image.add_subplot()
    layout = figure.get("layout", {})
    _draw_traces(axes, figure["data"], layout)
    _set_axis(axes, "x", layout.get("xaxis", {}))
    _set_axis(axes, "y", layout.get("yaxis", {}))
    axes.set_title(_plain_text(layout.get("title")))
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    _add_legend(axes)
    content = io.BytesIO()
    # Without a date, the same figure gives the same file.
    metadata = {"Date": None} if image_format == "svg" else {"CreationDate": None} if image_format == "pdf" else None
    image.savefig(content, format=image_format, metadata=metadata)
    return content.getvalue()


def _draw_traces(axes: Axes, traces: Sequence[Mapping[str, Any]], layout: Mapping[str, Any]) -> None:
    """Draw the traces in order. A band is filled between a trace and the one before it."""
    before: Mapping[str, Any] | None = None
    stacked: dict[Any, float] = {}
    drawn: set[str] = set()
    for trace in traces:
        if trace.get("visible", True) is not True:
            continue
        label = _label(trace, drawn)
        if trace.get("type", "scatter") == "bar":
            _draw_bars(axes, trace, label, stacked if layout.get("barmode") == "stack" else None)
        elif trace.get("type", "scatter") == "scatter":
            _draw_scatter(axes, trace, before, label)
            before = trace
        elif trace["type"] == "heatmap":
            _draw_heat_map(axes, trace)
        else:
            raise ArcadiaError(f"Images cannot show traces of type {trace['type']}. Save the figure as .json or .html.")


def _label(trace: Mapping[str, Any], drawn: set[str]) -> str:
    """Return the legend entry of a trace, or an empty text if it has none or its group has one already."""
    name = _plain_text(trace.get("name"))
    if not name or trace.get("showlegend") is False or name in drawn:
        return ""
    drawn.add(name)
    return name


def _draw_scatter(axes: Axes, trace: Mapping[str, Any], before: Mapping[str, Any] | None, label: str) -> None:
    line, mode = trace.get("line", {}), trace.get("mode", "lines")
    color, opacity = (
        _color(line.get("color") or _first(trace.get("marker", {}).get("color"), None)),
        trace.get("opacity"),
    )
    step: Literal["post"] | None = "post" if line.get("shape") == "hv" else None
    x, y = _places(trace["x"]), _heights(trace["y"])
    if trace.get("fill") in ("tonexty", "tozeroy"):
        lower = _heights(before["y"]) if trace["fill"] == "tonexty" and before is not None else [0.0] * len(y)
        if len(lower) == len(y):
            axes.fill_between(x, lower, y, color=_color(trace.get("fillcolor")) or color, step=step, linewidth=0)
    drawstyle = "steps-post" if step else "default"
    width = line.get("width", 2)
    if "lines" in mode and width:
        dash = _DASHES.get(line.get("dash", "solid"), "-")
        shown = {"color": color, "alpha": opacity, "linewidth": 0.8 * width, "linestyle": dash}
        axes.plot(x, y, drawstyle=drawstyle, label=label or None, **shown)
        label = ""
    if "markers" in mode:
        marker = trace.get("marker", {})
        symbol = _MARKERS.get(_first(marker.get("symbol"), "circle"), "o")
        colors = marker.get("color")
        if isinstance(colors, list):
            axes.scatter(x, y, c=[_color(each) for each in colors], marker=symbol, label=label or None)
        else:
            shown = {"color": _color(colors) or color, "alpha": opacity}
            axes.plot(x, y, linestyle="none", marker=symbol, markersize=5, label=label or None, **shown)
    if bars := trace.get("error_y"):
        axes.errorbar(x, y, fmt="none", ecolor=_color(bars.get("color")) or color, yerr=_ends(bars))


def _draw_bars(axes: Axes, trace: Mapping[str, Any], label: str, stacked: dict[Any, float] | None) -> None:
    """Draw bars. `stacked` holds the height so far at each place, if bars are stacked."""
    horizontal = trace.get("orientation") == "h"
    places, lengths = (trace["y"], trace["x"]) if horizontal else (trace["x"], trace["y"])
    places, lengths = _places(places), _heights(lengths)
    starts = [0.0 if stacked is None else stacked.get(place, 0.0) for place in places]
    if stacked is not None:
        stacked.update({place: start + length for place, start, length in zip(places, starts, lengths, strict=True)})
    color = _first(trace.get("marker", {}).get("color"), None)
    shown = {"color": _color(color), "label": label or None}
    widths = trace.get("width")
    if horizontal:
        axes.barh(places, lengths, left=starts, **shown)
        if bars := trace.get("error_x"):
            axes.errorbar(lengths, places, fmt="none", ecolor="0.3", xerr=_ends(bars))
    else:
        axes.bar(places, lengths, width=0.8 if widths is None else widths, bottom=starts, **shown)


def _draw_heat_map(axes: Axes, trace: Mapping[str, Any]) -> None:
    """Draw the cells of a heat map, whose rows have names. Each column extends half way to its neighbors."""
    x, names = _heights(trace["x"]), _places(trace["y"])
    middles = [(left + right) / 2 for left, right in itertools.pairwise(x)]
    margin = (x[1] - x[0]) / 2 if len(x) > 1 else 0.5
    last = x[-1] + ((x[-1] - x[-2]) / 2 if len(x) > 1 else margin)
    rows = [place - 0.5 for place in range(len(names) + 1)]
    cells = axes.pcolormesh([x[0] - margin, *middles, last], rows, trace["z"], cmap="cividis", vmin=trace.get("zmin"))
    axes.set_yticks(range(len(names)), names)
    axes.figure.colorbar(cells, ax=axes)


def _set_axis(axes: Axes, name: Literal["x", "y"], layout: Mapping[str, Any]) -> None:
    from matplotlib.ticker import ScalarFormatter

    axis = axes.xaxis if name == "x" else axes.yaxis
    axes.set(**{f"{name}label": _plain_text(layout.get("title"))})
    log = layout.get("type") == "log"
    if log:
        axes.set(**{f"{name}scale": "log"})
    if ends := layout.get("range"):
        axes.set(**{f"{name}lim": [10.0**end for end in ends] if log else ends})
    if ticks := layout.get("tickvals"):
        texts = [_plain_text(text) for text in layout.get("ticktext") or ticks]
        axes.set(**{f"{name}ticks": list(ticks), f"{name}ticklabels": texts})
        axes.minorticks_off()
    elif isinstance(axis.get_major_formatter(), ScalarFormatter):
        axis.set_major_formatter(_short_number)
    if layout.get("autorange") == "reversed":
        (axes.invert_xaxis if name == "x" else axes.invert_yaxis)()


def _short_number(number: float, _position: float = 0.0) -> str:
    """Return a tick of a linear axis, such as 250k. Matplotlib also passes the position, which is not needed."""
    size, unit = next(((size, unit) for size, unit in _UNITS if abs(number) >= size), (1.0, ""))
    return f"{number / size:g}{unit}".replace("-", "\N{MINUS SIGN}")


def _add_legend(axes: Axes) -> None:
    """Add a legend below the chart. Leave it out for a single line or for more lines than fit."""
    labels = axes.get_legend_handles_labels()[1]
    if 1 <= len(labels) <= MAX_LEGEND_ENTRIES:
        fitting = max(1, LEGEND_LETTERS // (max(map(len, labels)) + LINE_LETTERS))
        columns = min(len(labels), MAX_LEGEND_COLUMNS, fitting)
        axes.figure.legend(loc="outside lower center", ncols=columns, frameon=False, fontsize="small")


def _places(values: Sequence[Any]) -> list[Any]:
    return [_plain_text(value) if isinstance(value, str) else value for value in values]


def _heights(values: Sequence[Any]) -> list[float]:
    return [float("nan") if value is None else float(value) for value in values]


def _ends(bars: Mapping[str, Any]) -> list[list[float]]:
    upper = _heights(bars["array"])
    return [_heights(bars["arrayminus"]) if "arrayminus" in bars else upper, upper]


def _first(value: Any, default: Any) -> Any:
    """Return a property of a trace that may be a list with one value per point."""
    if isinstance(value, (list, tuple)):
        return value[0] if value else default
    return default if value is None else value


def _color(color: str | None) -> Any:
    """Return a color for Matplotlib, which does not know CSS's rgba()."""
    if color and (match := _RGBA.fullmatch(color.replace(" ", ""))):
        red, green, blue, *alpha = (float(part) for part in match[1].split(","))
        return (red / 255, green / 255, blue / 255, *alpha)
    return color


def _plain_text(text: Any) -> str:
    """Return a title or name without markup. Dollar signs are escaped, because Matplotlib would read a formula."""
    if isinstance(text, Mapping):
        text = text.get("text")
    return "" if text is None else html.unescape(_TAG.sub(" ", str(text))).replace("$", r"\$")


class Figure:
    """A figure. Notebooks draw it with Plotly if they can, otherwise as an image."""

    def __init__(self, name: str, data: Mapping[str, Any]) -> None:
        self.name = name
        self.data: dict[str, Any] = dict(data)

    def to_dict(self) -> dict[str, Any]:
        """Return the Plotly figure: its data and its layout."""
        return {"data": self.data["data"], "layout": self.data["layout"]}

    def to_plotly(self) -> plotly.graph_objects.Figure:
        """Return a figure of the package plotly."""
        return import_optional("plotly.graph_objects", "Figure.to_plotly").Figure(self.to_dict(), skip_invalid=True)

    def to_csv(self) -> str:
        """Return the points as CSV, one row for each point of each trace. The traces of a heat map are its rows."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["trace", "x", "y"])
        for number, trace in enumerate(self.data["data"]):
            name = trace.get("name") or f"trace {number}"
            if trace.get("type") == "heatmap":
                rows = zip(trace["y"], trace["z"], strict=True)
                writer.writerows((row, x, z) for row, cells in rows for x, z in zip(trace["x"], cells, strict=True))
            else:
                writer.writerows((name, x, y) for x, y in zip(trace.get("x", ()), trace.get("y", ()), strict=False))
        return text.getvalue()

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the figure as .json, .csv, .html, .png, .svg or .pdf, by the ending of the path, and return the path.

        HTML needs the package plotly. Images need matplotlib.
        """
        target = Path(path)
        write = self._writers().get(target.suffix.lower())
        if write is None:
            raise ArcadiaError(f"{target} has no known ending. Use one of {', '.join(self._writers())}.")
        content = write()
        partial = target.with_name(f".{target.name}.part")
        partial.write_bytes(content)
        partial.replace(target)
        return target

    def _writers(self) -> dict[str, Callable[[], bytes]]:
        return {
            ".json": lambda: json.dumps(self.to_dict()).encode(),
            ".csv": lambda: self.to_csv().encode(),
            ".html": self._to_html,
            ".png": lambda: to_image(self.to_dict(), "png"),
            ".svg": lambda: to_image(self.to_dict(), "svg"),
            ".pdf": lambda: to_image(self.to_dict(), "pdf"),
        }

    def _to_html(self) -> bytes:
        plotly_io = import_optional("plotly.io", "A figure as HTML")
        text: str = plotly_io.to_html(self.to_plotly(), include_plotlyjs=True, full_html=True)
        return text.encode()

    def _repr_mimebundle_(self, **_options: Any) -> dict[str, Any]:
        """Return the figure for a notebook."""
        bundle: dict[str, Any] = {"text/plain": repr(self), "application/vnd.plotly.v1+json": self.to_dict()}
        try:
            return {**bundle, "image/svg+xml": to_image(self.to_dict(), "svg").decode()}
        except ArcadiaError as error:  # the notebook still has Plotly and the text
            return {**bundle, "text/plain": f"{self!r} {error}"}

    def __repr__(self) -> str:
        return f"<Figure {self.name!r}: {len(self.data['data'])} traces>"
