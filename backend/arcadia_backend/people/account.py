"""/account, /sessions and /tokens: your own account. Administrators also see and end those of others."""

from collections.abc import Collection, Iterable
from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from sqlalchemy import select
from sqlalchemy.orm import Session

from arcadia_backend.accounts import people, sign_in, tokens
from arcadia_backend.accounts.roles import access_to_accounts
from arcadia_backend.accounts.tokens import TokenScope
from arcadia_backend.config import CurrentSettings, Settings
from arcadia_backend.database import tables
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.engine import Db
from arcadia_backend.database.rights import MissingRight
from arcadia_backend.database.scope import current
from arcadia_backend.errors import Conflict
from arcadia_backend.people import schemas
from arcadia_backend.people.service import to_person
from arcadia_backend.projects.service import find_visible
from arcadia_backend.web.frontend import application_wheel, host_commands, origin_of
from arcadia_backend.web.lookup import PathId
from arcadia_backend.web.security import WrongTokenLimit, address_of

router = APIRouter(tags=["account"])

Everyone = Annotated[bool, Query(description="Those of all people. Only for administrators of the installation.")]


def own_account(session: Session) -> tables.Person:
    """Return the account of the signed-in caller. A token never changes its account, or creates further tokens."""
    scope = current()
    if scope.token_id is not None:
        raise MissingRight("A token cannot do this. Sign in with your browser.")
    return _caller(session)


def _caller(session: Session) -> tables.Person:
    """Return the person who calls, also with a token."""
    scope = current()
    person = people.find_person(session, scope.person_id) if scope.person_id is not None else None
    if person is None or person.is_owner:
        raise Conflict("This needs an account. Create the first one in the settings, or sign in with yours.")
    return person


def _owner(*, everyone: bool) -> int | None:
    """Return whose objects to show, or None for everyone's."""
    scope = current()
    if everyone and not scope.everything:
        raise MissingRight("Only administrators of the installation see this of other people.")
    # Without an account nothing is one's own.
    return None if everyone else scope.person_id or 0


def _names(session: Session, ids: Iterable[int | None]) -> dict[int, schemas.PersonRef]:
    query = select(tables.Person.id, tables.Person.name).where(tables.Person.id.in_({*ids} - {None}))
    return {row.id: schemas.PersonRef(id=row.id, name=row.name) for row in session.execute(query)}


@router.get("/account")
def read_account(db: Db, settings: CurrentSettings) -> schemas.Account:
    """Return your account and your roles."""
    scope = current()
    with db.read() as session:
        person = people.find_person(session, scope.person_id) if scope.person_id is not None else None
        has_role = scope.everything or bool(scope.projects)
        return schemas.Account(
            person=to_person(session, person) if person is not None and not person.is_owner else None,
            is_administrator=scope.everything,
            can_create_first=person is not None and person.is_owner,
            has_role=has_role,
            administrators=[] if has_role else [*people.list_administrators(session)],
            session_id=scope.session_id,
            fresh_until=sign_in.fresh_until(session, scope.session_id),
            proofs=_proofs(session, person, settings) if person is not None and scope.session_id is not None else [],
            max_token_days=settings.max_token_days or None,
        )


def _proofs(session: Session, person: tables.Person, settings: Settings) -> list[schemas.Proof]:
    is_of_provider = settings.oidc_issuer and people.has_identity(session, person, settings.oidc_issuer)
    ways: dict[schemas.Proof, bool] = {"password": bool(person.password_hash), "provider": bool(is_of_provider)}
    return [way for way, is_possible in ways.items() if is_possible]


@router.patch("/account")
def edit_account(db: Db, settings: CurrentSettings, changes: schemas.EditAccount) -> schemas.Account:
    """Change your name. Names that look alike are refused."""
    with db.write() as session:
        people.change(session, own_account(session), name=changes.name)
    return read_account(db, settings)


@router.post("/account/password", status_code=204)
def change_password(db: Db, change: schemas.ChangePassword) -> Response:
    """Change your password, and end your other sessions. The first password of a person needs a one-time link."""
    with db.write() as session:
        people.change_password(
            session, own_account(session), change.old_password, change.new_password, current().session_id
        )
    return Response(status_code=204)


@router.get("/sessions")
def list_sessions(db: Db, everyone: Everyone = False) -> list[schemas.OpenSession]:
    """Return the browsers that are signed in. The last used one comes first."""
    with db.read() as session:
        rows = sign_in.list_sessions(session, _owner(everyone=everyone))
        names = _names(session, (row.person_id for row in rows))
        return [
            schemas.OpenSession(
                id=row.id,
                person=names[row.person_id],
                created_at=row.created_at,
                last_used_at=row.last_used_at,
                address=row.address,
                browser=row.browser,
                is_current=row.id == current().session_id,
            )
            for row in rows
            if row.person_id is not None
        ]


@router.delete("/sessions", status_code=204)
def sign_out_everywhere(db: Db) -> Response:
    """End all of your sessions, also this one."""
    with db.write() as session:
        sign_in.revoke_all(session, own_account(session))
    return Response(status_code=204)


@router.delete("/sessions/{session_id}", status_code=204)
def end_session(db: Db, session_id: PathId) -> Response:
    """End a session."""
    with db.write() as session:
        sign_in.revoke(session, sign_in.find_session(session, session_id, _owner(everyone=current().everything)))
    return Response(status_code=204)


def to_token(session: Session, token: tables.AccessToken, person: schemas.PersonRef | None) -> schemas.AccessToken:
    """Return a token as the API shows it."""
    with access_to_accounts():
        project = session.get(tables.Project, token.project_id) if token.project_id else None
    return schemas.AccessToken(
        id=token.id,
        name=token.name,
        person=person,
        scopes=token.scopes,
        project=project.name if project else None,
        created_at=token.created_at,
        expires_at=token.expires_at,
        revoked_at=token.revoked_at,
        last_used_at=token.last_used_at,
        last_address=token.last_address,
    )


def _is_visible(token: tables.AccessToken) -> bool:
    """Return True unless a token asks for one of a project that it does not open."""
    scope = current()
    return scope.token_id is None or token.project_id is None or scope.role(token.project_id) is not None


@router.get("/tokens")
def list_tokens(db: Db, everyone: Everyone = False) -> list[schemas.AccessToken]:
    """Return your tokens, newest first. Ended ones are listed for a month."""
    with db.read() as session:
        rows = [row for row in tokens.list_tokens(session, _owner(everyone=everyone)) if _is_visible(row)]
        names = _names(session, (row.person_id for row in rows))
        return [to_token(session, row, names.get(row.person_id or 0)) for row in rows]


def check_scopes(scopes: Collection[TokenScope]) -> None:
    """Raise MissingRight if the caller must not create a token with these scopes."""
    if "worker" in scopes and not current().everything:
        raise MissingRight("Only administrators of the installation create tokens for workers.")


@router.post("/tokens", status_code=201)
def create_token(db: Db, settings: CurrentSettings, new: schemas.CreateToken) -> schemas.CreatedToken:
    """Create a token, and return its secret once."""
    with db.write() as session:
        person = own_account(session)
        check_scopes(new.scopes)
        days = tokens.check_days(new.days, settings.max_token_days)
        token = tokens.create(
            session,
            new.name,
            new.scopes,
            person_id=person.id,
            project_id=None if new.project is None else find_visible(session, new.project),
            expires_at=None if days is None else utc_now() + timedelta(days=days),
        )
        shown = to_token(session, token.token, schemas.PersonRef(id=person.id, name=person.name))
        return schemas.CreatedToken(**shown.model_dump(), secret=token.secret)


@router.post("/host-codes", status_code=201)
def create_host_code(request: Request, db: Db) -> schemas.HostCode:
    """Create a code with which one host of workers joins within ten minutes."""
    with db.write() as session:
        created = sign_in.create_host_code(session, current().person_id)
    return schemas.HostCode(
        code=created.code,
        expires_at=created.expires_at,
        commands=host_commands(origin_of(request), created.code),
        has_package=application_wheel() is not None,
    )


@router.post("/session/host", status_code=201)
def join_host(request: Request, db: Db, settings: CurrentSettings, joining: schemas.JoinHost) -> schemas.JoinedHost:
    """Give a host the token of its workers for its code. `GET /tokens?everyone=true` lists it."""
    address = address_of(request)
    try:
        with db.write() as session:
            new = tokens.create_for_host(session, joining.code, joining.name, address, settings.max_token_days)
            return schemas.JoinedHost(name=new.token.name, secret=new.secret, expires_at=new.token.expires_at)
    except sign_in.CodeExpired:
        limit: WrongTokenLimit = request.app.state.login_code_limit
        limit.count(address, joining.code)
        raise


@router.delete("/tokens", status_code=204)
def revoke_all_tokens(db: Db) -> Response:
    """Revoke all of your tokens, also the one of this request, and those that terminals have not collected yet."""
    with db.write() as session:
        tokens.revoke_all(session, _caller(session))
    return Response(status_code=204)


@router.delete("/tokens/{token_id}", status_code=204)
def revoke_token(db: Db, token_id: PathId) -> Response:
    """Revoke a token. It stops working within seconds."""
    with db.write() as session:
        tokens.revoke(session, tokens.find_token(session, token_id, _owner(everyone=current().everything)))
    return Response(status_code=204)
