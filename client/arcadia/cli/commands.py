"""The client's commands in the order of the help."""

from __future__ import annotations

import typer

from arcadia.cli import (
    agent,
    alerts,
    alias,
    archives,
    artifacts,
    change,
    compare,
    control,
    copies,
    diagnose,
    download,
    evaluate,
    figure,
    import_logs,
    launch,
    log,
    login,
    mcp,
    metrics,
    opening,
    presets,
    projects,
    record,
    run_command,
    runs,
    study,
    suite,
    sync,
    watch,
    workers,
)


def add_commands(app: typer.Typer) -> None:
    """Add all commands."""
    add = app.command
    add("login")(login.login)
    add("launch")(launch.launch)
    add("runs")(runs.runs)
    add("show")(runs.show)
    add("watch")(watch.watch)
    add("log")(log.log)
    add("metrics")(metrics.metrics)
    add("stop")(control.stop)
    add("pause")(control.pause)
    add("resume")(control.resume)
    add("change")(change.change)
    add("fork")(copies.fork)
    add("clone")(copies.clone)
    add("tag")(runs.tag)
    add("move")(projects.move)
    add("archive")(control.archive)
    add("delete")(control.delete)
    add("diagnose")(diagnose.diagnose)
    add("compare")(compare.compare)
    add("figure")(figure.figure)
    add("evaluate")(evaluate.evaluate)
    add("record")(record.record)
    app.add_typer(study.app, name="study")
    app.add_typer(suite.app, name="suite")
    app.add_typer(projects.app, name="projects")
    app.add_typer(download.app, name="download")
    app.add_typer(agent.app, name="agent")
    app.add_typer(alias.app, name="alias")
    app.add_typer(artifacts.app, name="artifacts")
    add("run", context_settings={"allow_interspersed_args": False})(run_command.run)
    add("follow")(import_logs.follow)
    add("import-logs")(import_logs.import_logs)
    add("export")(archives.export)
    add("import")(archives.import_files)
    add("sync")(sync.sync)
    app.add_typer(alerts.app, name="alerts")
    add("presets")(presets.presets)
    add("workers")(workers.workers)
    add("open")(opening.open_page)
    add("mcp")(mcp.serve_mcp)
