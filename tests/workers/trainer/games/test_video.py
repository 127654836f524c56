"""Tests that videos have the right size, length and colors and allow seeking, and that posters are exact."""

from pathlib import Path

import av
import numpy as np
import pytest
from av.video.reformatter import ColorRange, Colorspace
from numpy.typing import NDArray

from arcadia_workers.trainer.games.video import Frame, VideoWriter, write_png

# Two rows of Atari's colors, in blocks of 16 × 16.
COLORS = np.array(
    [
        [[200, 72, 72], [0, 0, 0], [236, 236, 236], [92, 186, 92]],
        [[66, 72, 200], [213, 130, 74], [144, 72, 17], [0, 64, 48]],
    ],
    dtype=np.uint8,
)
PICTURE: Frame = COLORS.repeat(16, axis=0).repeat(16, axis=1)


def decoded(path: Path) -> list[av.VideoFrame]:
    """Decode all frames."""
    with av.open(str(path)) as container:
        return list(container.decode(video=0))


def rgb(frame: av.VideoFrame) -> NDArray[np.float64]:
    """Convert planes to RGB by BT.709 with limited range."""
    planes = frame.to_ndarray().astype(np.float64)
    height, width = frame.height, frame.width
    y = (planes[:height] - 16) / 219
    chroma = planes[height:].reshape(2, height // 2, width // 2).repeat(2, axis=1).repeat(2, axis=2)
    blue_difference, red_difference = (chroma - 128) / 224
    red = y + 2 * (1 - 0.2126) * red_difference
    blue = y + 2 * (1 - 0.0722) * blue_difference
    green = (y - 0.2126 * red - 0.0722 * blue) / 0.7152
    return np.stack([red, green, blue], axis=-1) * 255


@pytest.mark.parametrize("scale", [1, 2])
def test_colors_are_accurate(tmp_path: Path, scale: int) -> None:
    with VideoWriter(tmp_path / "video.mp4", 30, scale) as video:
        for _ in range(3):
            video.add(PICTURE)
    frame = decoded(tmp_path / "video.mp4")[-1]
    side = 16 * scale
    centers = rgb(frame)[side // 2 :: side, side // 2 :: side]
    assert np.abs(centers - COLORS).max() <= 5
    assert (frame.colorspace, frame.color_range) == (Colorspace.ITU709, ColorRange.MPEG)


def test_enlarged_pixels_stay_sharp(tmp_path: Path) -> None:
    dots = np.zeros((16, 16, 3), dtype=np.uint8)
    dots[8, 8] = (236, 236, 236)
    with VideoWriter(tmp_path / "video.mp4", 60, 2) as video:
        video.add(dots)
    shown = rgb(decoded(tmp_path / "video.mp4")[0])
    assert shown[16:18, 16:18].min() > 200
    around = shown[14:20, 14:20].copy()
    around[2:4, 2:4] = 0
    assert around.max() < 60


def test_videos_have_the_right_size_rate_and_length(tmp_path: Path) -> None:
    with VideoWriter(tmp_path / "deep" / "video.mp4", 50, 1) as video:
        for _ in range(175):
            video.add(PICTURE)
    assert video.seconds == 3.5
    with av.open(str(video.path)) as container:
        stream = container.streams.video[0]
        assert (stream.codec_context.name, stream.codec_context.pix_fmt) == ("h264", "yuv420p")
        assert (stream.width, stream.height) == (64, 32)
        assert stream.average_rate == 50
        assert stream.frames == 175
        assert stream.duration is not None
        assert stream.time_base is not None
        assert float(stream.duration * stream.time_base) == pytest.approx(3.5)


def test_a_browser_can_start_at_once_and_seek(tmp_path: Path) -> None:
    with VideoWriter(tmp_path / "video.mp4", 30, 1) as video:
        for number in range(150):
            video.add(np.roll(PICTURE, number, axis=1))
    content = video.path.read_bytes()
    assert content.index(b"moov") < content.index(b"mdat")
    keyframes = [frame.time for frame in decoded(video.path) if frame.key_frame]
    assert keyframes == [0.0, 2.0, 4.0]


def test_odd_sizes_lose_a_row_or_column(tmp_path: Path) -> None:
    with VideoWriter(tmp_path / "video.mp4", 30, 1) as video:
        video.add(PICTURE[:31, :63])
    frame = decoded(video.path)[0]
    assert (frame.width, frame.height) == (62, 30)


def test_an_interrupted_video_leaves_no_file(tmp_path: Path) -> None:
    def interrupted() -> None:
        with VideoWriter(tmp_path / "video.mp4", 30, 1) as video:
            video.add(PICTURE)
            raise InterruptedError

    with pytest.raises(InterruptedError):
        interrupted()
    assert list(tmp_path.iterdir()) == []


def test_a_poster_holds_the_exact_pixels(tmp_path: Path) -> None:
    write_png(tmp_path / "poster.png", PICTURE, 3)
    pixels = decoded(tmp_path / "poster.png")[0].to_ndarray(format="rgb24")
    assert np.array_equal(pixels, PICTURE.repeat(3, axis=0).repeat(3, axis=1))
