"""`arcadia alerts`: list and follow alerts, and deliver them to other programs."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from arcadia._sync.client import Client
from arcadia._sync.projects import AlertChannel
from arcadia.cli.options import Json, Yes, open_client
from arcadia.cli.output import (
    age,
    clean,
    confirm,
    interruptible,
    joined,
    local_time,
    print_json,
    print_json_line,
    print_table,
    refresh,
    say,
    show,
    state,
)
from arcadia.errors import ArcadiaError
from arcadia.records.server import Alert

FOLLOW_SECONDS = 2.0

app = typer.Typer(
    help="List alerts, and deliver them to other programs.", invoke_without_command=True, rich_markup_mode=None
)

Kinds = Annotated[
    list[str], typer.Option("--kind", metavar="KIND", help="Only this kind of alerts, such as run_failed. Repeatable.")
]
ChannelId = Annotated[int, typer.Argument(metavar="CHANNEL", help="Number of the channel.")]
ChannelName = Annotated[str, typer.Option("--name", help="Name of the channel.")]


@app.callback()
def alerts(
    ctx: typer.Context,
    unread: Annotated[bool, typer.Option("--unread", help="Only unread alerts.")] = False,
    kinds: Kinds = [],  # noqa: B006 - Typer copies it
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Print new alerts until you press Ctrl-C.")] = False,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=1_000, help="Maximum number of alerts.")] = 20,
    read: Annotated[bool, typer.Option("--read", help="Mark the listed alerts as read.")] = False,
    as_json: Json = False,
) -> None:
    """List alerts, newest first, and deliver them to other programs."""
    if ctx.invoked_subcommand is not None:
        return
    client = open_client(ctx)
    listed = client.alerts(unread=unread, kind=kinds or None, limit=limit)
    if follow:
        _follow(client, listed, kinds, as_json=as_json)
        return
    if read and listed:
        client.mark_alerts_read(*(alert.id for alert in listed))
    if as_json:
        print_json([alert.data for alert in listed])
        return
    rows: list[list[Text | str]] = [
        [str(alert.id), age(alert.data["created_at"]), state(alert.level), alert.title, _about(alert)]
        for alert in listed
    ]
    print_table(["ALERT>", "AGE>", "LEVEL", "TITLE*", "ABOUT"], rows, empty="There are no alerts.")


@app.command()
def channels(ctx: typer.Context, as_json: Json = False) -> None:
    """List the channels that deliver alerts."""
    listed = open_client(ctx).alert_channels()
    if as_json:
        print_json([channel.data for channel in listed])
        return
    rows = [
        [
            str(channel.id),
            channel.name,
            channel.kind,
            "on" if channel.enabled else "off",
            channel.address,
            "all" if channel.kinds is None else joined(channel.kinds),
            channel.problem or "",
        ]
        for channel in listed
    ]
    columns = ["CHANNEL>", "NAME*", "KIND", "STATE", "ADDRESS*", "ALERTS*", "PROBLEM*"]
    print_table(columns, rows, empty="There are no channels. Add one with `arcadia alerts add-webhook`.")


@app.command("add-webhook")
def add_webhook(
    ctx: typer.Context,
    url: Annotated[str, typer.Argument(metavar="URL", help="Address that gets each alert as a signed POST request.")],
    name: ChannelName = "Webhook",
    kinds: Kinds = [],  # noqa: B006 - Typer copies it
    as_json: Json = False,
) -> None:
    """Add a webhook. Its secret is printed once."""
    channel = open_client(ctx).add_webhook(name, url, kinds=kinds or None)
    if as_json:
        print_json(channel.data)
        return
    show(f"Added channel {channel.id} {channel.name}.\nSecret: {channel.secret}")
    say("Keep the secret, which is not shown again. It signs the header Arcadia-Signature of every request.")


@app.command("add-apprise")
def add_apprise(
    ctx: typer.Context,
    url: Annotated[str, typer.Argument(metavar="URL", help="Apprise URL, such as slack://… or mailto://….")],
    name: ChannelName = "Apprise",
    kinds: Kinds = [],  # noqa: B006 - Typer copies it
    as_json: Json = False,
) -> None:
    """Add an Apprise URL: Slack, Discord, Telegram, e-mail and others."""
    channel = open_client(ctx).add_apprise(name, url, kinds=kinds or None)
    print_json(channel.data) if as_json else show(f"Added channel {channel.id} {channel.name}.")


@app.command()
def remove(ctx: typer.Context, channel: ChannelId, yes: Yes = False) -> None:
    """Remove a channel with its history."""
    chosen = _find_channel(open_client(ctx), channel)
    confirm(f"Remove channel {chosen.id} {chosen.name} with its history?", yes)
    chosen.remove()
    show(f"Removed channel {chosen.id}.")


@app.command("test")
def send_test(ctx: typer.Context, channel: ChannelId, as_json: Json = False) -> None:
    """Send a test alert to a channel."""
    delivery = _find_channel(open_client(ctx), channel).test()
    if as_json:
        print_json(delivery.data)
    else:
        show(f"The test is delivery {delivery.id}. `arcadia alerts deliveries` shows its outcome.")


@app.command()
def deliveries(
    ctx: typer.Context,
    channel: Annotated[int | None, typer.Option("--channel", help="Only to this channel.")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=1_000, help="Maximum number of deliveries.")] = 20,
    as_json: Json = False,
) -> None:
    """List the deliveries of alerts, newest first."""
    listed = [delivery.data for delivery in open_client(ctx).alert_deliveries(channel=channel, limit=limit)]
    if as_json:
        print_json(listed)
        return
    rows = [
        [
            str(each["id"]),
            age(each["created_at"]),
            each["title"],
            each["channel"],
            state(each["state"]),
            str(each["tries"]),
            each["error"] or "",
        ]
        for each in listed
    ]
    columns = ["DELIVERY>", "AGE>", "ALERT*", "CHANNEL*", "STATE", "TRIES>", "ERROR*"]
    print_table(columns, rows, empty="No alert was sent to a channel yet.")


@app.command()
def redeliver(
    ctx: typer.Context,
    delivery: Annotated[int, typer.Argument(metavar="DELIVERY", help="Number of the delivery.")],
    as_json: Json = False,
) -> None:
    """Send an alert to its channel again."""
    redelivered = open_client(ctx).redeliver_alert(delivery)
    print_json(redelivered.data) if as_json else show(f"Delivery {redelivered.id} is sent again.")


def _follow(client: Client, alerts: list[Alert], kinds: list[str], *, as_json: bool) -> None:
    """Print the listed alerts in order, and then each new one."""

    def show_new(newest_first: list[Alert], last: int) -> int:
        for alert in reversed([each for each in newest_first if each.id > last]):
            last = alert.id
            print_json_line(alert.data) if as_json else show(_line(alert))
        return last

    last = show_new(alerts, 0)
    with interruptible("Alerts are still raised."):
        for newest_first in refresh(lambda: client.alerts(kind=kinds or None, limit=200), FOLLOW_SECONDS):
            last = show_new(newest_first, last)


def _line(alert: Alert) -> str:
    text = f": {alert.text}" if alert.text else ""
    return clean(f"{local_time(alert.data['created_at'])} {alert.level.upper()} {alert.title}{text}")


def _about(alert: Alert) -> str:
    if alert.run_id is not None:
        return f"run {alert.run_id}"
    return "" if alert.study_id is None else f"study {alert.study_id}"


def _find_channel(client: Client, number: int) -> AlertChannel:
    for channel in client.alert_channels():
        if channel.id == number:
            return channel
    raise ArcadiaError(f"There is no channel {number}. `arcadia alerts channels` lists them.")
