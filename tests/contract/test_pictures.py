"""The pictures of docs/images are complete and show the current header."""

from bench.pictures.header import add_hash, header_hash, read_hash, size_of
from bench.pictures.screenshots import FOLDER, picture_sizes

ADVICE = "run `make pictures`"


def test_every_picture_has_its_fixed_size() -> None:
    sizes = {file.name: size_of(file.read_bytes()) for file in FOLDER.glob("*.png")}
    assert sizes == picture_sizes()


def test_no_picture_shows_an_outdated_header() -> None:
    hashes = {file.name: read_hash(file.read_bytes()) for file in sorted(FOLDER.glob("*.png"))}
    assert [name for name, stored in hashes.items() if stored != header_hash()] == [], ADVICE


def test_every_picture_is_in_the_overview() -> None:
    overview = (FOLDER / "README.md").read_text()
    assert [name for name in picture_sizes() if f"({name})" not in overview] == []


def test_a_stored_hash_is_read_back() -> None:
    png = (FOLDER / "run-dark.png").read_bytes()
    assert read_hash(add_hash(png, "0123456789abcdef")) == "0123456789abcdef"
