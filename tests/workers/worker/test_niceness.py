"""How far jobs give way to training."""

from workers.worker.settings import WorkerSettings


def test_a_thread_of_an_job_has_a_quarter_of_the_weight_of_a_training_at_least() -> None:
    niceness = WorkerSettings.model_fields["job_niceness"].default
    # Linux gives each step of niceness a weight smaller by a quarter (sched_prio_to_weight).
    assert 0.25 <= 1.25**-niceness < 1
