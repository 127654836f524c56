"""Files of a run, which are deleted with it."""

from arcadia_backend.config import Settings
from arcadia_backend.files.storage import stored_files
from tests.factories import Api


def test_purging_a_run_removes_only_its_files(api: Api, settings: Settings) -> None:
    run_id, attempt = api.running()
    api.upload(run_id, attempt, "a", b"mine")
    api.release(run_id, attempt, "finished")
    other, attempt = api.running()
    kept = api.upload(other, attempt, "a", b"other")
    assert api.user.delete(f"/api/v1/runs/{run_id}").status_code in (200, 204)
    assert [path.read_bytes() for path in stored_files(settings.files_dir)] == [b"other"]
    assert api.user.get(f"/api/v1/files/{kept}").status_code == 200
