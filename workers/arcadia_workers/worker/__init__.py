"""The worker: claims runs and jobs, starts a process for each, and relays its events to the backend.

__main__           `arcadia worker`
celery_app         the doorbell, which calls Supervisor.work_until_idle
work, assignment   the two kinds of work, runs and jobs, the leases, and how an attempt ended
supervisor         assignments of one kind, each from the claim to the release
attempt_directory  an attempt's directory, the checkpoint to resume from, and requested changes
trainer_process    a child process, or an idle one that has finished its imports, and their launcher
spool              the event file, read from the last acknowledged event
relay              delivery of events and files to the backend
heartbeat          reports of the worker to the backend
machine            the worker's settings, name, directory, and facts of its host
backend_client     calls of the worker API (workers/arcadia_workers/contract/worker_api.py)
once               the worker of a scheduler's job, which trains one run
bundle             `arcadia worker-bundle`, one file that starts a worker
answers            errors of backend calls, and when to repeat them
"""
