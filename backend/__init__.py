"""The backend: API, live stream and the only writer of the database.

A part imports only parts of the lines above its own; tests/contract/test_backend_order.py reads this list:

    failure_log
    columns, errors, refusals, chores, colors, frontend, compression, json_numbers, log_limits, reference, statistics
    config, listening, spreadsheet, tries
    serving
    db, models, live
    sign_ins
    security, allow, parameters
    space, turns
    migrations, doorbell, lookup, presence, session
    files, logs, metrics
    videos
    checkpoints, errands
    start_points
    recordings, saliency, kept_games
    evaluations
    runs
    workers, figures, compare, verdict, thresholds, export, configuration
    games, studies
    papers
    reports
    watching
    health
    app, embedded
    starting
    backup
    cli, openapi
"""
