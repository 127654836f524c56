"""The built frontend, and its replacement before the build."""

import gzip
from pathlib import Path

from fastapi import APIRouter, FastAPI
from fastapi.testclient import TestClient

from arcadia_backend.web.frontend import serve_frontend


def an_app(dist: Path) -> TestClient:
    app = FastAPI(openapi_url=None)
    api = APIRouter(prefix="/api/v1")

    @api.get("/runs")
    def runs() -> list[int]:
        return [1]

    app.include_router(api)
    serve_frontend(app, dist)
    return TestClient(app)


def test_every_address_of_the_application_returns_the_page(tmp_path: Path) -> None:
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text("<title>the page</title>")
    (tmp_path / "assets" / "app-1a2b.js").write_text("run()")
    client = an_app(tmp_path)
    navigation = {"Accept": "text/html", "Sec-Fetch-Mode": "navigate"}
    for path in ("/", "/runs/12", "/compare?runs=1,2"):
        assert "the page" in client.get(path, headers=navigation).text, path
    script = client.get("/assets/app-1a2b.js")
    assert script.text == "run()"
    assert "javascript" in script.headers["content-type"]
    assert client.get("/api/v1/runs").json() == [1]


def test_hashed_files_are_cached_and_the_page_is_revalidated(tmp_path: Path) -> None:
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text("<title>the page</title>")
    (tmp_path / "assets" / "app-1a2b.js").write_text("run()")
    client = an_app(tmp_path)
    assert client.get("/assets/app-1a2b.js").headers["cache-control"] == "public, max-age=31536000, immutable"
    assert client.get("/runs/12", headers={"Accept": "text/html"}).headers["cache-control"] == "no-cache"
    for path in ("/assets/gone-3c4d.js", "/api/v1/runs"):
        assert "cache-control" not in client.get(path).headers, path


def test_hashed_files_are_sent_as_the_copy_that_the_client_accepts(tmp_path: Path) -> None:
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text("<title>the page</title>")
    script = tmp_path / "assets" / "app-1a2b.js"
    script.write_text("run()")
    (tmp_path / "assets" / "app-1a2b.js.gz").write_bytes(gzip.compress(b"run()"))
    (tmp_path / "assets" / "app-1a2b.js.br").write_bytes(b"\x0b\x02\x80run()\x03")
    client = an_app(tmp_path)

    def sent(path: str, accepted: str) -> tuple[str | None, int]:
        with client.stream("GET", path, headers={"Accept-Encoding": accepted}) as answer:
            assert answer.headers["content-type"].startswith("text/javascript")
            assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
            assert answer.headers["vary"] == "Accept-Encoding"
            return answer.headers.get("content-encoding"), int(answer.headers["content-length"])

    sizes = {end: (tmp_path / "assets" / f"app-1a2b.js{end}").stat().st_size for end in ("", ".gz", ".br")}
    assert sent("/assets/app-1a2b.js", "gzip, deflate, br") == ("br", sizes[".br"])
    assert sent("/assets/app-1a2b.js", "gzip, deflate") == ("gzip", sizes[".gz"])
    assert sent("/assets/app-1a2b.js", "identity") == (None, sizes[""])
    assert client.get("/assets/app-1a2b.js", headers={"Accept-Encoding": "gzip"}).text == "run()"
    (tmp_path / "assets" / "small-5e6f.js").write_text("one")
    assert sent("/assets/small-5e6f.js", "gzip") == (None, 3)


def test_files_outside_the_build_are_not_served(tmp_path: Path) -> None:
    dist = tmp_path / "dist"
    dist.mkdir()
    (dist / "index.html").write_text("<title>the page</title>")
    (tmp_path / "worker-token").write_text("secret")
    client = an_app(dist)
    for path in ("/../worker-token", "/%2e%2e/worker-token", "/..%2fworker-token", "/%252e%252e/worker-token"):
        assert "secret" not in client.get(path).text


def test_without_a_build_the_response_says_how_to_build(tmp_path: Path) -> None:
    answer = an_app(tmp_path / "dist").get("/runs/3")
    assert answer.status_code == 503
    assert "make setup" in answer.text
