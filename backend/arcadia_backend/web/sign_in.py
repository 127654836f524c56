"""Routes of /session: sign in and out, and one-time links."""

from typing import Literal, Self

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field, model_validator
from sqlalchemy.orm import Session as DatabaseSession

from arcadia_backend.accounts import people, sign_in
from arcadia_backend.accounts.passwords import MAX_LENGTH, PasswordLimit, WrongPassword
from arcadia_backend.accounts.people import Email, Password, PersonName
from arcadia_backend.config import COOKIE, CurrentSettings
from arcadia_backend.database import tables
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.engine import Db
from arcadia_backend.database.scope import current
from arcadia_backend.errors import FieldError, Invalid
from arcadia_backend.web.credentials import CurrentCredentials
from arcadia_backend.web.security import Unauthorized, address_of, same

router = APIRouter(tags=["session"])


class Session(BaseModel):
    """The session state of the caller."""

    required: bool = Field(description="True if the server requires a sign-in.")
    signed_in: bool


class SignInMethods(BaseModel):
    """How people sign in here."""

    password: bool = Field(description="True if there are accounts.")
    token: bool = Field(description="True if the server has ARCADIA_TOKEN, and no account yet.")
    openid: bool = Field(description="True if people sign in at an OpenID provider, by GET /session/oidc.")


class SignIn(BaseModel):
    """Request to sign in, by e-mail address and password, or by ARCADIA_TOKEN before the first account exists."""

    model_config = ConfigDict(extra="forbid")

    token: str | None = Field(default=None, max_length=1_000, description="The value of ARCADIA_TOKEN.")
    email: str | None = Field(default=None, max_length=320)
    password: str | None = Field(default=None, max_length=MAX_LENGTH)

    @model_validator(mode="after")
    def _check_content(self) -> Self:
        by_password = self.email is not None and self.password is not None
        if (self.token is None) != by_password:
            raise ValueError("give email and password, or token")
        return self


class OwnPassword(BaseModel):
    """The password of the person who has signed in."""

    model_config = ConfigDict(extra="forbid")

    password: str = Field(max_length=MAX_LENGTH)


class LinkSecret(BaseModel):
    """The secret of a one-time link."""

    model_config = ConfigDict(extra="forbid")

    secret: str = Field(max_length=100)


class OpenedLink(BaseModel):
    """A valid one-time link."""

    purpose: Literal["first", "invite", "reset"]
    name: str | None = Field(description="Name of the person. Null for the first administrator.")
    email: str | None


class AcceptLink(LinkSecret):
    """The password that a person chooses. The first administrator also gives name and e-mail address."""

    password: Password
    name: PersonName | None = None
    email: Email | None = None


@router.get("/session")
async def read_session(credentials: CurrentCredentials) -> Session:
    """Return whether the caller must sign in, and is signed in."""
    return Session(required=not credentials.is_open, signed_in=current().is_known)


@router.get("/session/methods")
def list_sign_in_methods(db: Db, settings: CurrentSettings) -> SignInMethods:
    """Return how people sign in here."""
    with db.read() as session:
        has_accounts = sign_in.has_accounts(session)
    return SignInMethods(
        password=has_accounts,
        token=bool(settings.token.get_secret_value()) and not has_accounts,
        openid=has_accounts and bool(settings.oidc_issuer),
    )


@router.post("/session", name="sign_in")
def start_session(
    request: Request,
    response: Response,
    settings: CurrentSettings,
    credentials: CurrentCredentials,
    db: Db,
    given: SignIn,
) -> Session:
    """Sign in, and set the session cookie."""
    if given.token is None:
        limit: PasswordLimit = request.app.state.password_limit
        email, password = given.email or "", given.password or ""
        person_id = sign_in.check_password(db, limit, email, password, address_of(request))
        with db.write() as session:
            sign_in_person(session, request, response, people.find_person(session, person_id))
        return Session(required=True, signed_in=True)
    token = settings.token.get_secret_value()
    with db.read() as session:
        owner = sign_in.find_owner(session)
    if owner is None:
        raise Unauthorized("ARCADIA_TOKEN worked until the first account was created. Sign in with your account.")
    if not token:
        return Session(required=False, signed_in=True)
    if not same(given.token, token):
        credentials.limit.count(address_of(request), given.token)
        raise Unauthorized("Wrong token. Use the value of ARCADIA_TOKEN on the server.")
    with db.write() as session:
        sign_in_person(session, request, response, owner, token)
    return Session(required=True, signed_in=True)


@router.post("/session/again", status_code=204)
def sign_in_again(request: Request, db: Db, given: OwnPassword) -> Response:
    """Send your password again, to change credentials for some minutes. People of a provider open GET /session/oidc.

    Requests that need this fail with a problem of the kind sign-in-again.
    """
    scope = current()
    if scope.session_id is None or scope.person_id is None:
        raise Unauthorized("Only a person who has signed in in a browser can sign in again. Sign in first.")
    try:
        sign_in.check_password(db, request.app.state.password_limit, scope.person_id, given.password, scope.address)
    except WrongPassword:
        raise Invalid(FieldError(field="password", message="is wrong")) from None
    with db.write() as session:
        signed_in = sign_in.find_session(session, scope.session_id, scope.person_id)
        sign_in.note_proof(session, signed_in, people.find_person(session, scope.person_id), utc_now())
    return Response(status_code=204)


@router.delete("/session", name="sign_out", status_code=204)
def end_own_session(db: Db) -> Response:
    """Delete the session and its cookie."""
    if (session_id := current().session_id) is not None:
        with db.write() as session:
            sign_in.revoke(session, sign_in.find_session(session, session_id, current().person_id))
    response = Response(status_code=204)
    response.delete_cookie(COOKIE, httponly=True, samesite="strict")
    return response


@router.post("/session/link")
def read_link(db: Db, given: LinkSecret) -> OpenedLink:
    """Return whom a one-time link is for. It stays valid. Fail with 410 if it was used, or has expired."""
    with db.read() as session:
        link = sign_in.find_link(session, given.secret)
        person = people.find_person(session, link.person_id) if link.person_id is not None else None
        named = {"name": person.name if person else None, "email": person.email if person else None}
        return OpenedLink.model_validate({"purpose": link.purpose, **named})


@router.post("/session/password")
def accept_link(request: Request, response: Response, db: Db, given: AcceptLink) -> Session:
    """Choose a password with a one-time link, and sign in. Other sessions of the person end."""
    with db.write() as session:
        person = people.accept_link(
            session, given.secret, given.password, name=given.name or "", email=given.email or ""
        )
        sign_in_person(session, request, response, person)
    return Session(required=True, signed_in=True)


def sign_in_person(
    session: DatabaseSession, request: Request, response: Response, person: tables.Person, token: str = ""
) -> tables.SignInSession:
    """Start a session of a person, with a new cookie."""
    browser = request.headers.get("user-agent", "")
    started = sign_in.start_session(session, person, address_of(request), browser, token)
    response.set_cookie(
        COOKIE,
        started.secret,
        max_age=int(sign_in.SESSION_LIFETIME.total_seconds()),
        httponly=True,
        samesite="strict",
        secure=request.scope["scheme"] == "https",
    )
    return started.session
