"""The worker: claims runs, has a trainer train each, and brings what it writes to the backend.

__main__, settings      the program `arcadia worker` and its settings
celery_app, tasks       the doorbell, which calls Supervisor.look
work, assignment               the two kinds of work, runs and jobs, and what is in hand
supervisor, places      assignments of one kind, each from the claim to the release
warm                    an idle job process whose imports are done
attempt_directory       an attempt's directory, with the checkpoint to go on from
checkpoint_store        checkpoints that were fetched, by their hash
trainer_process, leash  the trainer's process, which never outlives the worker
spool, lines            the trainer's events, read from their file
relay, suspicion        events and files on their way to the backend
heartbeat, machine      what the backend hears of the worker
endings                 how an attempt ended
backend_client, backoff calls of the worker API (workers/contract/worker_api.py)
answers                 what the backend's answers mean
"""
