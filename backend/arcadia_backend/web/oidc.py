"""Sign-in at an OpenID provider: the authorization code flow with PKCE.

A signed cookie keeps what the flow needs until the provider sends the browser back. People are known by their issuer
and subject, never by their e-mail address.
"""

import base64
import hashlib
import hmac
import json
import secrets
import threading
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any
from urllib.parse import quote

import httpx
from authlib.integrations.base_client import OAuthError
from authlib.integrations.httpx_client import OAuth2Client
from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import RedirectResponse, Response
from fastapi.routing import APIRoute
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet
from pydantic import BaseModel, Field, StrictFloat, StrictStr, TypeAdapter, ValidationError
from sqlalchemy.orm import Session

from arcadia_backend.accounts import people, sign_in
from arcadia_backend.accounts.roles import is_valid
from arcadia_backend.config import API, CurrentSettings, Settings
from arcadia_backend.database import tables
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.engine import Db
from arcadia_backend.database.scope import current
from arcadia_backend.errors import NotFound, Problem, Unavailable
from arcadia_backend.web.frontend import origin_of
from arcadia_backend.web.security import Unauthorized
from arcadia_backend.web.sign_in import sign_in_person
from arcadia_workers.contract.values import STORABLE

COOKIE = "arcadia_oidc"
# Cookie with the reason of a failed sign-in, which the next page shows once. A link cannot set it.
FAILURE_COOKIE, FAILURE_SECONDS = "arcadia_sign_in_failure", 60
CALLBACK = f"{API}/session/oidc/callback"
# How long a person may take at the provider.
FLOW_SECONDS = 600
# How long the description and the keys of the provider are kept.
METADATA_SECONDS = 3_600.0
TIMEOUT_SECONDS = 10.0
# Only signatures by keys that the provider publishes. HMAC and `none` would let others sign.
ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
CLOCK_LEEWAY_SECONDS = 60
# A person who signs in again must do so now. Providers that ignore `prompt` may follow this.
MAX_AGE_SECONDS = 60
MAX_GROUPS = 200
GROUPS = TypeAdapter(Annotated[list[people.GroupName], Field(max_length=MAX_GROUPS)])

# Errors of connections and of answers. Authlib uses httpx2, or httpx if it is older.
BAD_ANSWERS: tuple[type[Exception], ...] = (
    httpx.HTTPError,
    httpx.InvalidURL,
    JoseError,
    ValueError,
    TypeError,
    KeyError,
)
with suppress(ImportError):
    import httpx2

    BAD_ANSWERS += (httpx2.HTTPError, httpx2.InvalidURL)


class ProviderRefused(Problem):
    """The sign-in at the provider did not succeed."""

    status = 401
    kind = "provider-refused"
    title = "Sign-in failed"

    def __init__(self, reason: str) -> None:
        super().__init__(f"The sign-in at the provider failed: {reason}. Try again.")


@dataclass(frozen=True)
class Flow:
    """A sign-in that has begun in a browser."""

    state: str
    nonce: str
    verifier: str
    # The page to open afterwards.
    then: str
    ends: float
    # The session whose person signs in again.
    session_id: int | None = None


class Claims(BaseModel):
    """The claims of a person in an ID token. Others are ignored."""

    sub: Annotated[StrictStr, Field(min_length=1, max_length=300, pattern=r"^[^\x00]+$")]
    name: Annotated[StrictStr, STORABLE] | None = None
    preferred_username: Annotated[StrictStr, STORABLE] | None = None
    email: Annotated[StrictStr, Field(max_length=254), STORABLE] | None = None
    # Some providers send a text, which does not count.
    email_verified: Any = None
    auth_time: Annotated[StrictFloat, Field(ge=0, lt=2**33)] | None = None
    # Who may use the token.
    aud: StrictStr | list[StrictStr]
    azp: StrictStr | None = None
    groups: list[str] = []

    @property
    def proved_at(self) -> datetime | None:
        """When the person has shown the provider who they are, if it says so."""
        return None if self.auth_time is None else datetime.fromtimestamp(min(self.auth_time, time.time()), UTC)


class OpenIdProvider:
    """The provider of the settings, with its description and its keys."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._metadata: dict[str, Any] = {}
        self._keys: KeySet | None = None
        self._read_at = -float("inf")
        secret = settings.oidc_client_secret.get_secret_value() or secrets.token_urlsafe(32)
        self._key = hashlib.sha256(f"arcadia oidc {secret}".encode()).digest()

    def begin(self, redirect: str, then: str, session_id: int | None = None) -> tuple[str, str]:
        """Return the address at the provider, and the cookie of the flow. The person of a session signs in again."""
        metadata, _keys = self._read()
        state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
        flow = Flow(state, nonce, verifier, then, time.time() + FLOW_SECONDS, session_id)
        again = {} if session_id is None else {"prompt": "login", "max_age": str(MAX_AGE_SECONDS)}
        with self._client(redirect) as client:
            url, _state = client.create_authorization_url(
                metadata["authorization_endpoint"],
                state=flow.state,
                nonce=flow.nonce,
                code_verifier=flow.verifier,
                **again,
            )
        return str(url), self._sign(flow)

    def finish(self, cookie: str, state: str, code: str, redirect: str) -> tuple[Claims, Flow]:
        """Return the claims of the person, and the flow. Raise ProviderRefused if anything is wrong."""
        flow = self.verify(cookie)
        if not hmac.compare_digest(flow.state.encode(), state.encode("utf-8", "surrogateescape")):
            raise ProviderRefused("it was started in another browser")
        metadata, _keys = self._read()
        try:
            with self._client(redirect) as client:
                token = client.fetch_token(metadata["token_endpoint"], code=code, code_verifier=flow.verifier)
        except OAuthError as error:
            raise ProviderRefused(_explain(str(error.error))) from error
        except BAD_ANSWERS as error:
            raise Unavailable("The OpenID provider does not respond. Try again later.") from error
        claims = self._claims(str(token.get("id_token", "")), flow.nonce)
        began = flow.ends - FLOW_SECONDS
        if claims.auth_time is not None and claims.auth_time > time.time() + CLOCK_LEEWAY_SECONDS:
            raise ProviderRefused("it says that you signed in later than now")
        if flow.session_id is not None and (claims.auth_time or 0) < began - CLOCK_LEEWAY_SECONDS:
            raise ProviderRefused("it does not say that you have just signed in again (claim auth_time)")
        return claims, flow

    def _claims(self, token: str, nonce: str) -> Claims:
        """Return the claims of an ID token. Raise ProviderRefused unless it is for this server and this flow."""
        client_id = self._settings.oidc_client_id
        rules = jwt.JWTClaimsRegistry(
            leeway=CLOCK_LEEWAY_SECONDS,
            iss={"essential": True, "value": self._settings.oidc_issuer},
            aud={"essential": True, "value": client_id},
            sub={"essential": True},
            exp={"essential": True},
            nonce={"essential": True, "value": nonce},
        )
        try:
            try:
                claims = jwt.decode(token, self._read()[1], algorithms=ALGORITHMS).claims
            except JoseError:
                # The provider may have new keys.
                claims = jwt.decode(token, self._read(again=True)[1], algorithms=ALGORITHMS).claims
            read = self._read_claims(dict(claims))
            rules.validate(claims)
        except (JoseError, ValueError) as error:
            raise ProviderRefused(f"its token is not valid ({type(error).__name__})") from error
        return read

    def _read_claims(self, claims: dict[str, Any]) -> Claims:
        """Return the claims that matter. Raise ProviderRefused for odd ones, so that they create nothing."""
        wanted = self._settings.oidc_groups_claim
        left_out = claims.get("_claim_names")
        if claims.get("hasgroups") or (isinstance(left_out, dict) and wanted in left_out):
            raise ProviderRefused("you have too many groups for its token. Let it send only those of this server")
        try:
            # Providers leave the claim out for a person without groups.
            groups = GROUPS.validate_python([] if claims.get(wanted) is None else claims[wanted], strict=True)
        except ValidationError as error:
            reason = f"its claim {wanted!r} must be a list of at most {MAX_GROUPS} names of at most 100 characters"
            raise ProviderRefused(reason) from error
        try:
            read = Claims.model_validate({**claims, "groups": groups})
        except ValidationError as error:
            odd = ", ".join(sorted({str(each["loc"][0]) for each in error.errors()}))
            raise ProviderRefused(f"its token has an odd value of {odd}") from error
        others = isinstance(read.aud, list) and len(read.aud) > 1
        if read.azp != self._settings.oidc_client_id and (others or read.azp is not None):
            raise ProviderRefused("its token is for another program")
        return read

    def _client(self, redirect: str) -> OAuth2Client:
        return OAuth2Client(
            self._settings.oidc_client_id,
            self._settings.oidc_client_secret.get_secret_value() or None,
            scope=self._settings.oidc_scope,
            redirect_uri=redirect,
            code_challenge_method="S256",
            timeout=TIMEOUT_SECONDS,
        )

    def _read(self, *, again: bool = False) -> tuple[dict[str, Any], KeySet]:
        """Return the description and the keys of the provider."""
        with self._lock:
            if self._keys is None or again or time.monotonic() - self._read_at > METADATA_SECONDS:
                issuer = self._settings.oidc_issuer
                try:
                    described = _get_json(f"{issuer.rstrip('/')}/.well-known/openid-configuration")
                    keys = KeySet.import_key_set(_get_json(described["jwks_uri"]))  # type: ignore[arg-type]
                    described["authorization_endpoint"], described["token_endpoint"]
                except BAD_ANSWERS as error:
                    raise Unavailable("The OpenID provider does not respond. Try again later.") from error
                if described.get("issuer") != issuer:
                    raise ProviderRefused("the provider has another name than ARCADIA_OIDC_ISSUER")
                self._metadata, self._keys, self._read_at = described, keys, time.monotonic()
            return self._metadata, self._keys

    def _sign(self, flow: Flow) -> str:
        content = base64.urlsafe_b64encode(json.dumps(flow.__dict__).encode()).decode()
        return f"{content}.{hmac.digest(self._key, content.encode(), 'sha256').hex()}"

    def verify(self, cookie: str) -> Flow:
        """Return the flow of a cookie. Raise ProviderRefused if this server did not begin it, or it took too long."""
        content, _, signature = cookie.partition(".")
        expected = hmac.digest(self._key, content.encode("utf-8", "surrogateescape"), "sha256").hex()
        if not hmac.compare_digest(signature.encode("utf-8", "surrogateescape"), expected.encode()):
            raise ProviderRefused("this browser has not started one")
        flow = Flow(**json.loads(base64.urlsafe_b64decode(content)))
        if time.time() > flow.ends:
            raise ProviderRefused("it took too long")
        return flow


def _explain(error: str) -> str:
    """Return an error code of the provider in words."""
    return "it did not allow it, or you cancelled it" if error == "access_denied" else f"it answered {error[:100]!r}"


def _get_json(url: str) -> dict[str, Any]:
    answer = httpx.get(url, timeout=TIMEOUT_SECONDS).raise_for_status()
    read: dict[str, Any] = answer.json()
    return read


def get_provider(request: Request, settings: CurrentSettings) -> OpenIdProvider:
    """Return the provider of the application. Raise NotFound if there is none."""
    if not settings.oidc_issuer:
        raise NotFound("This server has no OpenID provider. Set ARCADIA_OIDC_ISSUER and ARCADIA_OIDC_CLIENT_ID.")
    state = request.app.state
    if getattr(state, "openid_provider", None) is None:
        state.openid_provider = OpenIdProvider(settings)
    provider: OpenIdProvider = state.openid_provider
    return provider


Provider = Annotated[OpenIdProvider, Depends(get_provider)]


def page_of(path: str) -> str:
    """Return a path of this server, so that no link leads to another site."""
    is_local = path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable()
    return path if is_local else "/"


def _redirect_address(request: Request, settings: Settings) -> str:
    return f"{settings.public_url.rstrip('/') or origin_of(request)}{CALLBACK}"


class BrowserRoute(APIRoute):
    """Route that a browser opens as a page. Its problem is shown by the page to which the person wanted to go."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler. It redirects a browser after a problem. Programs get the problem itself."""
        handle = super().get_route_handler()

        async def answer(request: Request) -> Response:
            try:
                return await handle(request)
            except Problem as problem:
                if "text/html" not in request.headers.get("accept", ""):
                    raise
                response = RedirectResponse(_page_after(request), 303)
                reason = quote(problem.detail)
                response.set_cookie(FAILURE_COOKIE, reason, max_age=FAILURE_SECONDS, samesite="strict")
                return response

        return answer


def _page_after(request: Request) -> str:
    """Return the page that a sign-in opens at its end, or the first page if it was not begun here."""
    provider: OpenIdProvider | None = getattr(request.app.state, "openid_provider", None)
    if request.url.path != CALLBACK:
        return page_of(request.query_params.get("then", "/"))
    try:
        return provider.verify(request.cookies.get(COOKIE, "")).then if provider else "/"
    except ProviderRefused:
        return "/"


router = APIRouter(tags=["session"], route_class=BrowserRoute)


@router.get("/session/oidc", response_class=RedirectResponse, status_code=303)
def start_at_provider(
    request: Request,
    settings: CurrentSettings,
    provider: Provider,
    then: Annotated[str, Query(max_length=2_000, description="Path of the page to open afterwards.")] = "/",
    again: Annotated[
        bool, Query(description="Prove again who you are, to change credentials for some minutes.")
    ] = False,
) -> RedirectResponse:
    """Send the browser to the OpenID provider."""
    session_id = current().session_id if again else None
    if again and session_id is None:
        raise Unauthorized("Only a person who has signed in in a browser can sign in again. Sign in first.")
    url, cookie = provider.begin(_redirect_address(request, settings), page_of(then), session_id)
    response = RedirectResponse(url, 303)
    # The provider sends the browser back from another site, which SameSite=Strict would not survive.
    is_secure = request.scope["scheme"] == "https"
    response.set_cookie(
        COOKIE, cookie, max_age=FLOW_SECONDS, path=CALLBACK, httponly=True, samesite="lax", secure=is_secure
    )
    return response


@router.get("/session/oidc/callback", response_class=RedirectResponse, status_code=303)
def return_from_provider(
    request: Request,
    settings: CurrentSettings,
    db: Db,
    provider: Provider,
    state: Annotated[str, Query(max_length=500)] = "",
    code: Annotated[str, Query(max_length=5_000)] = "",
    error: Annotated[str, Query(max_length=500, description="Why the provider refused.")] = "",
) -> RedirectResponse:
    """Sign in the person whom the provider has sent back."""
    if error or not code:
        raise ProviderRefused(_explain(error) if error else "the provider sent no code")
    redirect = _redirect_address(request, settings)
    claims, flow = provider.finish(request.cookies.get(COOKIE, ""), state, code, redirect)
    response = RedirectResponse(flow.then, 303)
    with db.write() as session:
        if not sign_in.has_accounts(session):
            raise ProviderRefused("there is no account yet. Create the first one with its one-time link")
        if flow.session_id is not None:
            person = _prove_again(session, settings, claims, flow.session_id)
        else:
            name = claims.name or claims.preferred_username or ""
            email = claims.email if claims.email_verified is True else None
            person = people.find_or_add_identity(session, settings.oidc_issuer, claims.sub, name, email)
            if person.disabled_at is not None:
                raise ProviderRefused("your account is disabled")
            # An older session at the provider proves nothing now.
            sign_in_person(session, request, response, person).proved_at = claims.proved_at
        people.set_groups_of(session, person, claims.groups)
    response.delete_cookie(COOKIE, path=CALLBACK, httponly=True, samesite="lax")
    return response


def _prove_again(session: Session, settings: Settings, claims: Claims, session_id: int) -> tables.Person:
    """Store that the person of a session has proved who they are. The browser cannot send its cookie from there."""
    person = people.find_identity(session, settings.oidc_issuer, claims.sub)
    signed_in = session.get(tables.SignInSession, session_id)
    if person is None or signed_in is None or signed_in.person_id != person.id:
        raise ProviderRefused("you signed in there as another person than here")
    if person.disabled_at is not None or not is_valid(signed_in.expires_at, signed_in.revoked_at, utc_now()):
        raise ProviderRefused("this browser is signed out")
    sign_in.note_proof(session, signed_in, person, claims.proved_at)
    return person
