"""Tests of `arcadia plugins allow`."""

from pathlib import Path

import pytest

from arcadia_workers.contract.plugins.__main__ import main
from tests.plugin_packages import Site


def test_allow_names_the_file_and_the_data_folder(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("ARCADIA_PLUGINS", raising=False)
    site.install("good")
    assert main(["allow", "good", "--data", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"{tmp_path / 'plugins.txt'} allows good.")
    assert f"if its data folder is {tmp_path}. For another data folder, add `--data DIR`" in said
