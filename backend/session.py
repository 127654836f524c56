"""/session: sign in with the token, see whether one must, sign out."""

import time
from datetime import UTC, datetime

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import delete, select

from backend.columns import utc_now
from backend.config import CurrentSettings
from backend.db import Database, Db
from backend.models import SignedIn
from backend.security import COOKIE, Unauthorized, is_signed_in, matches_token
from backend.sign_ins import SECONDS, SignIns, new_cookie, proof_of

router = APIRouter(tags=["session"])


class Session(BaseModel):
    """Whether a token must be given, and whether the caller has given it."""

    required: bool
    signed_in: bool


class SignIn(BaseModel):
    """The user token."""

    model_config = ConfigDict(extra="forbid")

    token: str = Field(max_length=1_000)


@router.get("/session")
def read_session(request: Request, settings: CurrentSettings) -> Session:
    """Whether one must sign in, and has."""
    return Session(required=bool(settings.token.get_secret_value()), signed_in=is_signed_in(request, settings))


@router.post("/session")
def sign_in(db: Db, request: Request, response: Response, settings: CurrentSettings, given: SignIn) -> Session:
    """Exchange the token for a cookie that scripts cannot read and other sites cannot send."""
    token = settings.token.get_secret_value()
    if not token:
        return Session(required=False, signed_in=True)
    if not matches_token(request, given.token, settings):
        raise Unauthorized("That is not the token; it is what ARCADIA_TOKEN was set to on the server.")
    cookie = new_cookie()
    _remember(db, request.app.state.sign_ins, proof_of(cookie, token))
    response.set_cookie(
        COOKIE,
        cookie,
        max_age=SECONDS,
        httponly=True,
        samesite="strict",
        secure=request.scope["scheme"] == "https",
    )
    return Session(required=True, signed_in=True)


@router.delete("/session", status_code=204)
def sign_out(db: Db, request: Request, response: Response, settings: CurrentSettings) -> None:
    """Forget the cookie, here and in the browser."""
    proof = proof_of(request.cookies.get(COOKIE, ""), settings.token.get_secret_value())
    sign_ins: SignIns = request.app.state.sign_ins
    if sign_ins.holds(proof):
        # First where it would outlive a restart: should that fail, the next sign-out finds the cookie still let in.
        with db.write() as session:
            session.execute(delete(SignedIn).where(SignedIn.proof == proof))
        sign_ins.forget(proof)
    response.delete_cookie(COOKIE, httponly=True, samesite="strict")


def recall(database: Database) -> SignIns:
    """The sign-ins that were kept in the database and have not run out."""
    sign_ins = SignIns()
    with database.read() as session:
        for kept in session.scalars(select(SignedIn).where(SignedIn.ends_at > utc_now())):
            sign_ins.remember(kept.proof, kept.ends_at.timestamp())
    return sign_ins


def _remember(database: Database, sign_ins: SignIns, proof: str) -> None:
    ends = time.time() + SECONDS
    with database.write() as session:
        session.execute(delete(SignedIn).where(SignedIn.ends_at <= utc_now()))
        session.add(SignedIn(proof=proof, ends_at=datetime.fromtimestamp(ends, UTC)))
    sign_ins.remember(proof, ends)
