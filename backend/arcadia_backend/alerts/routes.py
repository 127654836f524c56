"""/alerts, /alert-rules, /score-rules, /alert-channels and /alert-deliveries."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from arcadia_backend.alerts import channels, rules, service
from arcadia_backend.config import CurrentSettings
from arcadia_backend.database.engine import Db
from arcadia_backend.database.rights import check_role
from arcadia_backend.database.scope import Role, current
from arcadia_backend.database.tables import AlertRuleKind
from arcadia_backend.projects.schemas import Projects
from arcadia_backend.web.idempotency import Idempotent
from arcadia_backend.web.lookup import PathId
from arcadia_workers.contract.values import Id

router = APIRouter(tags=["alerts"])

Limit = Annotated[int, Query(ge=1, le=200)]
Before = Annotated[Id | None, Query(description="The next_cursor of the previous page.")]


@router.get("/alerts")
def list_alerts(
    db: Db,
    unread: Annotated[bool, Query(description="Return only unread alerts.")] = False,
    kind: Annotated[list[AlertRuleKind], Query(description="Return only alerts of these kinds.")] = [],  # noqa: B006
    run: Annotated[Id | None, Query(description="Return only alerts of this run.")] = None,
    limit: Limit = 50,
    before: Before = None,
) -> rules.AlertPage:
    """Return one page of alerts, newest first. They are kept for 90 days."""
    with db.read() as session:
        return service.list_alerts(session, unread=unread, kinds=kind, run_id=run, limit=limit, before=before)


@router.post("/alerts/read")
def mark_alerts_read(db: Db, marked: rules.MarkRead) -> rules.UnreadAlerts:
    """Mark alerts as read, and return how many unread ones remain."""
    with db.write() as session:
        service.mark_read(session, marked)
        return rules.UnreadAlerts(unread=service.count_unread(session))


@router.get("/alert-rules")
def list_alert_rules(db: Db) -> list[rules.AlertRule]:
    """Return the rule of each kind of alert, for people with a role in a project. All projects share them."""
    if not current().everything:
        check_role(db.read, current(), Role.VIEWER, None)
    with db.read() as session:
        return list(rules.read_rules(session).values())


@router.patch("/alert-rules/{kind}")
def edit_alert_rule(db: Db, kind: AlertRuleKind, changes: rules.EditAlertRule) -> rules.AlertRule:
    """Switch a kind of alert on or off, change its threshold, or let it ring the bell or not."""
    with db.write() as session:
        return rules.edit_rule(session, kind, changes)


@router.get("/score-rules")
def list_score_rules(
    db: Db,
    project: Projects = [],  # noqa: B006 - FastAPI copies it
) -> list[rules.ScoreRule]:
    """Return the scores that raise an alert when a run of their project passes them."""
    with db.read() as session:
        return [rules.ScoreRule.model_validate(rule) for rule in rules.list_score_rules(session, project)]


@router.post("/score-rules", status_code=201)
def add_score_rule(db: Db, once: Idempotent, new: rules.AddScoreRule) -> rules.ScoreRule:
    """Add a score. Runs that are in training and have already passed it raise an alert too."""
    with once.write(db) as session:
        return once.store(session, rules.ScoreRule.model_validate(rules.add_score_rule(session, new)))


@router.delete("/score-rules/{rule_id}", status_code=204)
def remove_score_rule(db: Db, rule_id: PathId) -> Response:
    """Remove a score."""
    with db.write() as session:
        rules.remove_score_rule(session, rule_id)
    return Response(status_code=204)


@router.get("/alert-channels")
def list_alert_channels(db: Db) -> list[rules.AlertChannel]:
    """Return the channels without their secrets, oldest first."""
    with db.read() as session:
        return channels.list_channels(session)


@router.post("/alert-channels", status_code=201)
def add_alert_channel(db: Db, settings: CurrentSettings, once: Idempotent, new: rules.AddChannel) -> rules.AddedChannel:
    """Add a channel. Only this response contains the secret that signs the requests of a webhook."""
    channels.check_address(settings, new)
    with once.write(db) as session:
        return once.store(session, channels.add_channel(session, new))


@router.patch("/alert-channels/{channel_id}")
def edit_alert_channel(db: Db, channel_id: PathId, changes: rules.EditChannel) -> rules.AlertChannel:
    """Change a channel's name or kinds, or switch it on or off."""
    with db.write() as session:
        channel = channels.find_channel(session, channel_id, lock=True)
        channels.edit_channel(session, channel, changes)
        return channels.to_schema(session, channel)


@router.delete("/alert-channels/{channel_id}", status_code=204)
def remove_alert_channel(db: Db, channel_id: PathId) -> Response:
    """Remove a channel with its history of deliveries."""
    with db.write() as session:
        channels.remove_channel(session, channel_id)
    return Response(status_code=204)


@router.post("/alert-channels/{channel_id}/test", status_code=202)
def test_alert_channel(db: Db, channel_id: PathId) -> rules.AlertDelivery:
    """Send a test alert to a channel. The history of deliveries shows its outcome."""
    with db.write() as session:
        return channels.send_test(session, channels.find_channel(session, channel_id, lock=True))


@router.get("/alert-deliveries")
def list_alert_deliveries(
    db: Db,
    channel: Annotated[Id | None, Query(description="Return only deliveries to this channel.")] = None,
    limit: Limit = 50,
    before: Before = None,
) -> rules.DeliveryPage:
    """Return one page of deliveries, newest first."""
    with db.read() as session:
        return channels.list_deliveries(session, channel, limit, before)


@router.post("/alert-deliveries/{delivery_id}/redeliver", status_code=202)
def redeliver_alert(db: Db, delivery_id: PathId) -> rules.AlertDelivery:
    """Send an alert to its channel again."""
    with db.write() as session:
        return channels.send_again(session, delivery_id)
