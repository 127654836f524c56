"""The worker: claims runs, has a trainer train each, and brings what it writes to the backend.

__main__, settings      the program `arcadia worker` and its settings
celery_app, tasks       the doorbell, which calls Supervisor.look
supervisor              one run at a time, from the claim to the release
run_directory           an attempt's directory, with the checkpoint to go on from
trainer_process, leash  the trainer's process, which never outlives the worker
spool, lines            the trainer's events, read from their file
relay, suspicion        events and files on their way to the backend
heartbeat, machine      what the backend hears of the worker
endings                 how an attempt ended
backend_client, backoff calls of the worker API (workers/contract/worker_api.py)
answers                 what the backend's answers mean
"""
