"""Tests for a worker's check of its GPU."""

import pytest

from arcadia_workers.worker.machine import gpu_problem


@pytest.mark.parametrize(
    ("check", "message"),
    [
        ("print(False, False)", "a CPU build"),
        ("print(True, False)", "PyTorch finds no GPU"),
        ("import no_such_module", "PyTorch does not start: ModuleNotFoundError"),
    ],
)
def test_the_problem_is_named(check: str, message: str) -> None:
    assert message in str(gpu_problem(check))


def test_a_usable_gpu_is_no_problem() -> None:
    assert gpu_problem("print('a banner'); print(True, True)") is None
