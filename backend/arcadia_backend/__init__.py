"""The backend: REST API, live stream and the only writer of the database.

A package imports only packages from earlier lines. tests/contract/test_backend_order.py enforces this list:

    colors, failure_log, refusals, untrusted
    config, errors
    database
    live
    accounts
    configuration, doorbell, startup, web, workers
    events, files, logs, metrics, projects, provenance
    usage
    alerts, aliases, backup, jobs, replays
    artifacts, caps, checkpoints, people, views
    runs
    changes, comparisons, job_kinds, reported
    agents, figures, lineage, marks, worker_api
    executors, games, health, studies
    diagnosis, live_games, papers, suites
    plugins, reports
    archives, boards
    examples
    app
    cli, openapi
    commands
"""
