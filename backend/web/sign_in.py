"""/session: sign in with the token, see whether one must, sign out."""

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from backend.config import CurrentSettings
from backend.web.security import COOKIE, Unauthorized, is_signed_in, matches_token
from backend.web.sessions import SESSION_SECONDS, SessionStore, new_cookie, proof_of

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
async def read_session(request: Request, settings: CurrentSettings) -> Session:
    """Whether one must sign in, and has."""
    return Session(required=bool(settings.token.get_secret_value()), signed_in=await is_signed_in(request, settings))


@router.post("/session")
def sign_in(request: Request, response: Response, settings: CurrentSettings, given: SignIn) -> Session:
    """Exchange the token for a cookie that scripts cannot read and other sites cannot send."""
    token = settings.token.get_secret_value()
    if not token:
        return Session(required=False, signed_in=True)
    if not matches_token(request, given.token, settings):
        raise Unauthorized("That is not the token; it is what ARCADIA_TOKEN was set to on the server.")
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
def sign_out(request: Request, settings: CurrentSettings) -> Response:
    """Forget the cookie, here and in the browser."""
    proof = proof_of(request.cookies.get(COOKIE, ""), settings.token.get_secret_value())
    sessions: SessionStore = request.app.state.sessions
    if sessions.is_valid(proof):
        sessions.remove(proof)
    response = Response(status_code=204)
    response.delete_cookie(COOKIE, httponly=True, samesite="strict")
    return response
