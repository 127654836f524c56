"""/session: sign in with the token, see whether one must, sign out."""

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from backend.config import CurrentSettings
from backend.security import COOKIE, COOKIE_SECONDS, Unauthorized, is_signed_in, matches_token, new_cookie

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
def sign_in(request: Request, response: Response, settings: CurrentSettings, given: SignIn) -> Session:
    """Exchange the token for a cookie that scripts cannot read and other sites cannot send."""
    if not settings.token.get_secret_value():
        return Session(required=False, signed_in=True)
    if not matches_token(given.token, settings):
        raise Unauthorized("That is not the token; it is what ARCADIA_TOKEN was set to on the server.")
    response.set_cookie(
        COOKIE,
        new_cookie(settings),
        max_age=COOKIE_SECONDS,
        httponly=True,
        samesite="strict",
        secure=request.scope["scheme"] == "https",
    )
    return Session(required=True, signed_in=True)


@router.delete("/session", status_code=204)
def sign_out(response: Response) -> None:
    """Forget the cookie."""
    response.delete_cookie(COOKIE, httponly=True, samesite="strict")
