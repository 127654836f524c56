"""Test of the notebook code that a chart's menu copies. frontend/src/charts/notebook.test.ts has the same lines."""

import io
import runpy
import urllib.request
from pathlib import Path

import plotly.graph_objects as go
import pytest

from tests.factories import CARTPOLE, Api, metrics

COPIED = (Path(__file__).parents[2] / "fixtures" / "notebook.txt").read_text()
URL = "/api/v1/figures/curves?runs=1%2C2"


@pytest.mark.parametrize("token", [None, "of-another-server"])
def test_the_copied_lines_draw_the_figure(
    api: Api, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, token: str | None
) -> None:
    for seed in (1, 2):
        run_id, attempt = api.running(config=CARTPOLE | {"seed": seed})
        api.send(run_id, attempt, metrics(2, 10, returns=[seed]), metrics(3, 20, returns=[seed])).raise_for_status()
    if token:
        monkeypatch.setenv("ARCADIA_TOKEN", token)
    else:
        monkeypatch.delenv("ARCADIA_TOKEN", raising=False)

    def opened(request: urllib.request.Request) -> io.BytesIO:
        assert request.full_url == f"http://arcadia.test{URL}"
        answer = api.user.get(URL, headers=dict(request.header_items()))
        assert answer.status_code == 200, answer.text
        return io.BytesIO(answer.content)

    monkeypatch.setattr(urllib.request, "urlopen", opened)
    *lines, last = COPIED.strip().splitlines()
    script = tmp_path / "notebook.py"
    script.write_text("\n".join([*lines, f"figure = {last}"]))
    figure = runpy.run_path(str(script))["figure"]
    assert isinstance(figure, go.Figure)
    assert [tuple(trace.y) for trace in figure.data] == [(1, 1), (2, 2)]
