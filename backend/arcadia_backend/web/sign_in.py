"""Routes of /session: read the session, sign in and sign out."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from arcadia_backend.config import COOKIE, CurrentSettings
from arcadia_backend.web.security import Principal, Unauthorized, identify, matches_token
from arcadia_backend.web.sessions import SESSION_SECONDS, SessionStore, new_cookie, proof_of

router = APIRouter(tags=["session"])

# The guard requires nothing here, so it does not find out who calls.
SignedIn = Annotated[Principal, Depends(identify)]


class Session(BaseModel):
    """The session state of the caller."""

    required: bool = Field(description="True if the server has a user token.")
    signed_in: bool


class SignIn(BaseModel):
    """Request to sign in."""

    model_config = ConfigDict(extra="forbid")

    token: str = Field(max_length=1_000, description="The value of ARCADIA_TOKEN.")


@router.get("/session")
async def read_session(principal: SignedIn) -> Session:
    """Return whether the caller must sign in, and is signed in."""
    return Session(required=principal.kind != "owner", signed_in=principal.kind != "nobody")


@router.post("/session")
def sign_in(request: Request, response: Response, settings: CurrentSettings, given: SignIn) -> Session:
    """Exchange the user token for a session cookie."""
    token = settings.token.get_secret_value()
    if not token:
        return Session(required=False, signed_in=True)
    if not matches_token(request, given.token, settings):
        raise Unauthorized("Wrong token. Use the value of ARCADIA_TOKEN on the server.")
    cookie = new_cookie()
    sessions: SessionStore = request.app.state.sessions
    sessions.add(proof_of(cookie, token))
    response.set_cookie(
        COOKIE,
        cookie,
        max_age=SESSION_SECONDS,
        httponly=True,
        samesite="strict",
        secure=request.scope["scheme"] == "https",
    )
    return Session(required=True, signed_in=True)


@router.delete("/session", status_code=204)
def sign_out(request: Request, principal: SignedIn) -> Response:
    """Delete the session and its cookie."""
    if principal.session is not None:
        sessions: SessionStore = request.app.state.sessions
        sessions.remove(principal.session)
    response = Response(status_code=204)
    response.delete_cookie(COOKIE, httponly=True, samesite="strict")
    return response
