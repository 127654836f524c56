"""Pages that other sites may show in a frame."""

from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from pydantic import ValidationError

from arcadia_backend.app import create_app
from arcadia_backend.config import Settings


def test_only_embeds_may_be_framed(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, embed_origins="https://wiki.example.org, https://*.example.net")
    with TestClient(create_app(settings), base_url="http://localhost:8000") as client:
        for path in ("/embed", "/embed/3/rates", "/embed?figure=x"):
            headers = client.get(path).headers
            ancestors = "frame-ancestors 'self' https://wiki.example.org https://*.example.net"
            assert headers["content-security-policy"].endswith(ancestors)
            assert "x-frame-options" not in headers
        for path in ("/", "/embedded", "/runs/1", "/api/v1/figures", "/api/v1/embed"):
            headers = client.get(path).headers
            assert headers["content-security-policy"].endswith("frame-ancestors 'none'")
            assert headers["x-frame-options"] == "DENY"


@pytest.mark.nightly
def test_embeds_may_be_framed_only_by_this_server_by_default(tmp_path: Path) -> None:
    with TestClient(create_app(Settings(data_dir=tmp_path)), base_url="http://localhost:8000") as client:
        assert client.get("/embed").headers["content-security-policy"].endswith("frame-ancestors 'self'")


@pytest.mark.parametrize("origin", ["*", "wiki.example.org", "https://a.org/path", "https://a.org; script-src *"])
def test_an_embed_origin_must_be_an_origin(tmp_path: Path, origin: str) -> None:
    with pytest.raises(ValidationError, match="must be an origin"):
        Settings(data_dir=tmp_path, embed_origins=(origin,))
