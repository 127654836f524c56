"""Media: from the values of a script to the journal."""

from __future__ import annotations

import hashlib
import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import arcadia
import numpy as np
import pytest
from arcadia.errors import ArcadiaError, MissingPackageError
from PIL import Image as PillowImage
from reporting.scripts import events, of_kind

FRAMES = np.zeros((4, 8, 10, 3), np.uint8)
FRAMES[:, :, :5, 0] = 255


@pytest.fixture
def run(tmp_path: Path) -> Iterator[arcadia.ReportedRun]:
    """Start a run whose journals are below tmp_path/journals."""
    with arcadia.init(mode="offline", directory=tmp_path / "journals") as run:
        yield run


def decode(image: arcadia.Image) -> np.ndarray[Any, Any]:
    return np.asarray(PillowImage.open(io.BytesIO(image.content())))


@pytest.mark.parametrize(
    "array",
    [
        FRAMES[0],
        FRAMES[0].astype(np.float32) / 255,
        FRAMES[0].astype(float),
        FRAMES[0].astype(np.int64),
        np.moveaxis(FRAMES[0], -1, 0),
        FRAMES[0].tolist(),
        FRAMES[0] > 0,
    ],
    ids=["bytes", "floats to 1", "floats to 255", "integers", "channels first", "lists", "booleans"],
)
def test_arrays_of_every_kind_are_the_same_picture(array: Any) -> None:
    assert np.array_equal(decode(arcadia.Image(array)), FRAMES[0])


@pytest.mark.parametrize("channels", [1, 2, 4])
def test_gray_and_transparent_pictures_keep_their_channels(channels: int) -> None:
    random = np.random.default_rng(0).integers(0, 256, (7, 5, channels), np.uint8)
    assert np.array_equal(decode(arcadia.Image(random)).reshape(7, 5, channels), random)


def test_tensors_are_pictures() -> None:
    torch = pytest.importorskip("torch")
    tensor = torch.tensor(FRAMES[0], dtype=torch.bfloat16, requires_grad=True)
    assert np.array_equal(decode(arcadia.Image(tensor)), FRAMES[0])


def test_figures_and_pillow_images_are_pictures() -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(2, 1), dpi=50)
    axes = figure.add_subplot()
    assert decode(arcadia.Image(figure)).shape[:2] == (50, 100)
    assert decode(arcadia.Image(axes)).shape[:2] == (50, 100)
    assert np.array_equal(decode(arcadia.Image(PillowImage.fromarray(FRAMES[0]))), FRAMES[0])


@pytest.mark.parametrize(
    "wrong", [np.zeros(3), np.zeros((5, 5, 5)), np.zeros((0, 2, 3)), np.array([["a"]]), [[1], [1, 2]]]
)
def test_an_array_that_is_not_a_picture_is_an_error(wrong: Any) -> None:
    with pytest.raises(ArcadiaError):
        arcadia.Image(wrong)


def test_files_are_recognized_by_their_content(tmp_path: Path) -> None:
    file = tmp_path / "picture.png"
    file.write_bytes(b"<svg/>")
    with pytest.raises(ArcadiaError, match="PNG, JPEG, GIF or WebP"):
        arcadia.Image(file)
    with pytest.raises(ArcadiaError, match="MP4, WebM"):
        arcadia.Video(file)
    file.write_bytes(arcadia.Image(FRAMES[0]).content())
    assert arcadia.Image(str(file)).content() == file.read_bytes()


def test_frames_become_an_mp4() -> None:
    import av

    content = arcadia.Video(FRAMES[:, :7], fps=12.5).content()
    with av.open(io.BytesIO(content), "r") as container:
        frames = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
        assert container.streams.video[0].average_rate == 12.5
    assert np.array(frames).shape == (4, 8, 10, 3)  # an odd height is filled up
    assert frames[0][2, 1, 0] > 200
    assert frames[0][2, 8, 0] < 60


def test_frames_become_an_animation_without_av(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arcadia.reporting.media.find_spec", lambda name: name != "av")
    frames = np.stack([np.full((8, 10, 3), shade, np.uint8) for shade in (0, 80, 160, 240)])
    with PillowImage.open(io.BytesIO(arcadia.Video(frames, fps=10).content())) as animation:
        assert (animation.n_frames, animation.size) == (4, (10, 8))  # type: ignore[attr-defined]


def test_frames_without_an_encoder_are_an_error_with_the_package_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arcadia.reporting.media.find_spec", lambda _name: None)
    with pytest.raises(MissingPackageError, match="pip install av"):
        arcadia.Video(FRAMES, fps=10)


def test_an_array_without_numpy_is_an_error_with_the_package_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    with pytest.raises(MissingPackageError, match="pip install numpy"):
        arcadia.Image([[0, 1]])


@pytest.mark.parametrize("fps", [None, 0, -1])
def test_frames_need_a_rate(fps: float | None) -> None:
    with pytest.raises(ArcadiaError, match="fps=30"):
        arcadia.Video(FRAMES, fps=fps)


@pytest.mark.parametrize("make", [list, np.array], ids=["list", "array"])
def test_values_are_counted_in_bins(make: Any) -> None:
    histogram = arcadia.Histogram(make([0.0, 0.1, 1.0, 1.0, float("nan"), float("inf")]), bins=2)
    assert histogram.data() == {"edges": [0.0, 0.5, 1.0], "counts": [2.0, 2.0]}
    same = arcadia.Histogram(make([3.0, 3.0]), bins=1).data()
    assert same == {"edges": [2.5, 3.5], "counts": [2.0]}
    assert sum(arcadia.Histogram(make([])).data()["counts"]) == 0


@pytest.mark.parametrize(
    "wrong", [{}, {"edges": [0, 1]}, {"values": [1], "bins": 0}, {"edges": [0, 1], "counts": [1, 2]}]
)
def test_an_invalid_histogram_is_an_error(wrong: dict[str, Any]) -> None:
    with pytest.raises(ArcadiaError):
        arcadia.Histogram(**wrong)


def test_a_table_has_cells_that_json_knows() -> None:
    table = arcadia.Table(["a", 2], [[np.float32(0.5), float("nan")], [None, Path("x")], [[1], "text"]])
    assert table.data() == {"columns": ["a", "2"], "rows": [[0.5, "NaN"], [None, "x"], ["[1]", "text"]]}
    with pytest.raises(ArcadiaError, match="2 values"):
        arcadia.Table(["a", "b"], [[1]])
    with pytest.raises(ArcadiaError, match="10,000 cells"):
        arcadia.Table(["a"], [[1]] * 10_001)
    with pytest.raises(ArcadiaError, match="columns and rows"):
        arcadia.Table(["a"])


def test_media_are_events_at_the_step_of_their_call(run: arcadia.ReportedRun, tmp_path: Path) -> None:
    image = arcadia.Image(FRAMES[0], caption="start")
    run.log({"screen": image, "loss": 1.0, "weights": {"fc": arcadia.Histogram([1.0, 2.0], bins=1)}}, step=7)
    run.log({"screen": [image, arcadia.Image(FRAMES[0, :4])]})
    found = of_kind("media", events(tmp_path / "journals"))
    digest = hashlib.sha256(image.content()).hexdigest()
    assert [(event["step"], event["name"], event["media"]) for event in found] == [
        (7, "screen", "image"),
        (7, "weights/fc", "histogram"),
        (8, "screen", "image"),
        (8, "screen", "image"),
    ]
    assert (found[0]["sha256"], found[0]["caption"]) == (digest, "start")
    assert found[1]["data"] == {"edges": [1.0, 2.0], "counts": [2.0]}
    assert found[2]["sha256"] == digest
    assert (run.directory / "files" / digest).read_bytes() == image.content()
    assert len(list((run.directory / "files").iterdir())) == 2


def test_a_file_that_the_disk_does_not_take_is_left_out(
    run: arcadia.ReportedRun, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (run.directory / "files").rmdir()
    run.log({"screen": arcadia.Image(FRAMES[0]), "loss": 1.0})
    found = events(tmp_path / "journals")
    assert [event["kind"] for event in found] == ["metrics", "log"]
    assert "screen was left out" in capfd.readouterr().err
    assert json.dumps(found)
