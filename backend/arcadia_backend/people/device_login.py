"""/session/device and /account/device: a command line gets a token, and a person confirms it in a browser."""

from fastapi import APIRouter, Request, Response
from sqlalchemy.orm import Session

from arcadia_backend.accounts import audit, device_login, people, sign_in, tokens
from arcadia_backend.accounts.device_login import PollState
from arcadia_backend.config import CurrentSettings
from arcadia_backend.database import tables
from arcadia_backend.database.engine import Db
from arcadia_backend.database.scope import current
from arcadia_backend.errors import Conflict, NotFound, Problem
from arcadia_backend.people import schemas
from arcadia_backend.people.account import check_scopes, own_account, to_token
from arcadia_backend.projects.service import find_visible
from arcadia_backend.web.security import WrongTokenLimit, address_of, network_of

router = APIRouter(tags=["session"])

# The page where a person confirms a login. A code may follow as a fragment, which browsers do not send.
PAGE = "/device"
# Kinds of problems by RFC 8628, with their titles and sentences.
_STATES: dict[PollState, tuple[str, str, str]] = {
    "waiting": ("authorization-pending", "Not confirmed yet", "Nobody has confirmed this login yet. Ask again."),
    "early": ("slow-down", "Too many requests", "Ask less often: wait 5 seconds longer than before."),
    "refused": ("access-denied", "Refused", "This login was refused."),
    "expired": ("expired-token", "Expired", "This login was used already, or has expired. Start it again."),
}


class LoginNotReady(Problem):
    """A login has no token now, or never."""

    def __init__(self, state: PollState) -> None:
        self.kind, self.title, detail = _STATES[state]
        super().__init__(detail)


@router.post("/session/device", status_code=201)
def start_login(db: Db, request: Request, new: schemas.StartLogin) -> schemas.StartedLogin:
    """Start a login of a command line. It shows the code, and polls `/session/device/token` for its token."""
    address = address_of(request)
    with db.write() as session:
        if not sign_in.has_accounts(session):
            raise Conflict("This server has no accounts, so there is nobody who could confirm a login.")
        started = device_login.start(session, new.name, new.scopes, address, network_of(address))
        return schemas.StartedLogin(
            secret=started.secret,
            code=started.code,
            path=PAGE,
            path_with_code=f"{PAGE}#{started.code}",
            expires_in=int(device_login.LIFETIME.total_seconds()),
            interval=started.login.interval_seconds,
        )


@router.post("/session/device/token", status_code=201)
def collect_token(db: Db, request: Request, given: schemas.LoginSecret) -> schemas.CreatedToken:
    """Return the token of a confirmed login, once.

    Before that, the kind of the problem is authorization-pending, slow-down, access-denied or expired-token.
    """
    with db.write() as session:
        collected = device_login.collect(session, given.secret, address_of(request))
        if isinstance(collected, tokens.NewToken):
            person = people.find_person(session, collected.token.person_id or 0)
            shown = to_token(session, collected.token, schemas.PersonRef(id=person.id, name=person.name))
            return schemas.CreatedToken(**shown.model_dump(), secret=collected.secret)
    raise LoginNotReady(collected)


@router.delete("/session/token", status_code=204)
def revoke_own_token(db: Db) -> Response:
    """Revoke the token that this request is sent with."""
    scope = current()
    if scope.token_id is None or scope.person_id is None:
        raise NotFound("This request has no token of a person.")
    with db.write() as session:
        token = tokens.find_token(session, scope.token_id, scope.person_id)
        tokens.revoke(session, token)
        if scope.scopes <= audit.REPORTING:
            audit.record(session, "revoke", "token", token.id, token.name)
    return Response(status_code=204)


def _find(session: Session, request: Request, code: str, *, lock: bool = False) -> tables.DeviceLogin:
    """Return the waiting login with a code. Limit wrong codes of the person."""
    try:
        return device_login.find_waiting(session, code, lock=lock)
    except NotFound:
        limit: WrongTokenLimit = request.app.state.login_code_limit
        limit.count(f"person {current().person_id}", code)
        raise


@router.post("/account/device")
def read_login(db: Db, request: Request, given: schemas.LoginCode) -> schemas.WaitingLogin:
    """Return who asks for a token with a code."""
    with db.read() as session:
        own_account(session)
        login = _find(session, request, given.code)
        return schemas.WaitingLogin.model_validate(login)


@router.post("/account/device/confirm", status_code=204)
def confirm_login(db: Db, request: Request, settings: CurrentSettings, given: schemas.ConfirmLogin) -> Response:
    """Give a waiting login a token of your account. It never has more scopes than it asked for."""
    with db.write() as session:
        person = own_account(session)
        check_scopes(given.scopes)
        login = _find(session, request, given.code, lock=True)
        if not set(given.scopes) & set(login.scopes):
            raise Conflict("Choose at least one of the scopes that it asked for.")
        project_id = None if given.project is None else find_visible(session, given.project)
        days = tokens.check_days(given.days, settings.max_token_days)
        device_login.confirm(session, login, person, given.scopes, project_id, days)
    return Response(status_code=204)


@router.post("/account/device/refuse", status_code=204)
def refuse_login(db: Db, request: Request, given: schemas.LoginCode) -> Response:
    """Refuse a waiting login."""
    with db.write() as session:
        person = own_account(session)
        device_login.refuse(session, _find(session, request, given.code, lock=True), person)
    return Response(status_code=204)
