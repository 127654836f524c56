"""The worker: claims runs and jobs, starts a process for each, and relays its events to the backend.

__main__, settings      `arcadia worker` and its settings
celery_app, tasks       the doorbell, which calls Supervisor.work_until_idle
work, assignment        the two kinds of work, runs and jobs, and the held assignments
supervisor, slots       assignments of one kind, each from the claim to the release
warm                    an idle process that has finished its imports
attempt_directory       an attempt's directory, with the checkpoint to resume from
checkpoint_store        cache of fetched checkpoints, by hash
trainer_process, leash  a child process that never outlives the worker
spool, lines            the event file, read from the last acknowledged event
relay, failing_events   delivery of events and files to the backend
heartbeat, machine      reports of the worker to the backend
endings                 how an attempt ended
backend_client, backoff calls of the worker API (workers/contract/worker_api.py)
answers                 errors of backend calls
"""
