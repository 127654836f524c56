"""Tests for the CPU priority of jobs relative to training."""

from arcadia_workers.contract.settings import WorkerSettings


def test_a_job_thread_has_at_least_a_quarter_of_the_weight_of_training() -> None:
    niceness = WorkerSettings.model_fields["job_niceness"].default
    # On Linux, each step of niceness divides the weight by 1.25 (sched_prio_to_weight).
    assert 0.25 <= 1.25**-niceness < 1
