"""Figures of the server: Plotly JSON that can be drawn, converted and saved."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arcadia.errors import ArcadiaError
from arcadia.images import to_image
from arcadia.optional import import_optional

if TYPE_CHECKING:
    import plotly.graph_objects


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
