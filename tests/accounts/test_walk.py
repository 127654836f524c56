"""Real bodies at all writing routes, by people who may only view what the bodies name, or not even that.

`python -m bench.doors` repeats it for all routes and callers.
"""

from tests.accounts.lab import Lab
from tests.accounts.walk import walk


def test_no_writing_route_changes_or_shows_what_its_caller_may_not(lab: Lab) -> None:
    steps = [*walk(lab, ["viewer", "administrator of another project"], "POST", "PUT", "PATCH", "DELETE")]
    assert len(steps) > 250
    assert [step for step in steps if step.problems] == []
