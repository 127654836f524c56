"""Recording of the calls of a SummaryWriter of torch or tensorboardX."""

from __future__ import annotations

import functools
import inspect
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from arcadia.reporting.attached import attached_run, not_stopping, with_standard_names
from arcadia.reporting.media import Histogram, Image, Video, to_array
from arcadia.reporting.run import ReportedRun
from arcadia.reporting.values import read_settings_table

MAX_IMAGES = 16


class _Call:
    """One call of a writer's method, with the run that records it."""

    def __init__(self, run: ReportedRun, arguments: Mapping[str, Any], prefix: str) -> None:
        self.run, self.arguments, self._prefix = run, arguments, prefix
        self.tag, self.value = str(list(arguments.values())[1]), list(arguments.values())[2]

    def log(self, values: Mapping[str, Any]) -> None:
        """Log values at the call's step. Without one, the step counts the calls for this tag."""
        step = self.arguments.get("global_step")
        if step is None:
            step = _unnumbered[self._prefix + self.tag]
            _unnumbered[self._prefix + self.tag] += 1
        self.run.log({self._prefix + name: value for name, value in with_standard_names(values).items()}, step=step)


_unnumbered: Counter[str] = Counter()
# Folders of the writers. Names from other folders than the first get a prefix, such as eval/.
_folders: list[Path] = []
_inside = threading.local()


def record_writer(kind: Any) -> None:
    """Patch the methods of a SummaryWriter class so that they also log to the run."""
    for name, record in _RECORDED.items():
        if original := getattr(kind, name, None):
            setattr(kind, name, _recording(original, record))


def _recording(original: Callable[..., Any], record: Callable[[_Call], None]) -> Callable[..., Any]:
    signature = inspect.signature(original)

    @functools.wraps(original)
    def call(self: Any, *arguments: Any, **named: Any) -> Any:
        if getattr(_inside, "active", False):  # a method that calls another one
            return original(self, *arguments, **named)
        # Before the call, which closes figures.
        with not_stopping(original.__name__):
            if run := attached_run():
                bound = signature.bind(self, *arguments, **named)
                bound.apply_defaults()
                record(_Call(run, bound.arguments, _prefix_of(self)))
        _inside.active = True
        try:
            return original(self, *arguments, **named)
        finally:
            _inside.active = False

    return call


def _prefix_of(writer: Any) -> str:
    folder = Path(getattr(writer, "log_dir", None) or getattr(writer, "logdir", None) or "").absolute()
    if folder not in _folders:
        _folders.append(folder)
    return "" if folder == _folders[0] else f"{folder.name}/"


def _scalar(call: _Call) -> None:
    call.log({call.tag: call.value})


def _scalars(call: _Call) -> None:
    call.log({f"{call.tag}/{name}": value for name, value in call.value.items()})


def _histogram(call: _Call) -> None:
    call.log({call.tag: Histogram(call.value)})


def _image(call: _Call) -> None:
    """Log an image, or the first ones of several."""
    order = str(call.arguments.get("dataformats", "CHW")).upper()
    array = to_array(call.value)
    images = [array] if "N" not in order else list(_ordered(array, order, "N" + order.replace("N", "")))[:MAX_IMAGES]
    order = order.replace("N", "")
    shown = [Image(_ordered(each, order, "HWC" if "C" in order else "HW")) for each in images]
    call.log({call.tag: shown})


def _video(call: _Call) -> None:
    array = _ordered(to_array(call.value), str(call.arguments.get("dataformats", "NTCHW")).upper(), "NTHWC")
    call.log({call.tag: [Video(each, fps=float(call.arguments["fps"])) for each in array[:MAX_IMAGES]]})


def _figure(call: _Call) -> None:
    figures = call.value if isinstance(call.value, list) else [call.value]
    call.log({call.tag: [Image(each) for each in figures]})


def _text(call: _Call) -> None:
    if settings := read_settings_table(str(call.value)):
        call.run.config.update(settings)
    else:
        call.run.write(f"{call.tag}: {call.value}")


def _settings(call: _Call) -> None:
    settings, metrics, *_rest = list(call.arguments.values())[1:]
    call.run.config.update(settings)
    if metrics:
        step = call.arguments.get("global_step")
        call.run.log(dict(metrics), step=max(call.run.step, 0) if step is None else step)


_RECORDED: dict[str, Callable[[_Call], None]] = {
    "add_scalar": _scalar,
    "add_scalars": _scalars,
    "add_histogram": _histogram,
    "add_image": _image,
    "add_images": _image,
    "add_video": _video,
    "add_figure": _figure,
    "add_text": _text,
    "add_hparams": _settings,
}


def _ordered(array: Any, order: str, wanted: str) -> Any:
    """Return an array with its dimensions in the wanted order."""
    if len(order) != array.ndim:
        raise ValueError(f"the order {order} does not fit {array.ndim} dimensions")
    return array.transpose([order.index(name) for name in wanted])
