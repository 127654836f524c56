"""People, groups, tokens, sessions and the audit log."""

from __future__ import annotations

from datetime import datetime

from arcadia._async.transport import AsyncLinkedRecord, AsyncRefreshable, AsyncRequests
from arcadia.errors import NotFoundError
from arcadia.records.account import (
    AccessTokenRecord,
    AuditEntry,
    PersonGroup,
    PersonRecord,
    SignInSessionRecord,
)


class AsyncPerson(AsyncRefreshable, PersonRecord):
    """A person with an account."""

    async def sign_out(self) -> None:
        """End all sessions of the person. Their tokens stay valid."""
        await self._transport.delete(f"{self._path}/sessions")

    async def revoke_tokens(self) -> None:
        """Revoke all tokens of the person."""
        await self._transport.delete(f"{self._path}/tokens")

    @property
    def _path(self) -> str:
        return f"/people/{self.id}"


class AsyncAccessToken(AsyncLinkedRecord, AccessTokenRecord):
    """A token."""

    async def revoke(self) -> None:
        """Revoke the token. It stops working within seconds."""
        await self._transport.delete(self._path)

    @property
    def _path(self) -> str:
        return f"/tokens/{self.id}"


class AsyncSignInSession(AsyncLinkedRecord, SignInSessionRecord):
    """A signed-in browser."""

    async def end(self) -> None:
        """Sign the browser out."""
        await self._transport.delete(self._path)

    @property
    def _path(self) -> str:
        return f"/sessions/{self.id}"


class AsyncAccountRequests(AsyncRequests):
    """Methods of the client for accounts. Most need an administrator of the installation.

    Only a signed-in browser invites and changes people and groups.
    """

    async def account(self) -> AsyncPerson | None:
        """Return the person whose token this client sends. None without accounts."""
        person = (await self.transport.get("/account"))["person"]
        return None if person is None else AsyncPerson(self.transport, person)

    async def people(self) -> list[AsyncPerson]:
        """List the people with an account by name."""
        return [AsyncPerson(self.transport, data) for data in await self.transport.get("/people")]

    async def person(self, email: str) -> AsyncPerson:
        """Return the person with an e-mail address."""
        people = await self.people()
        for person in people:
            if person.email == email.strip().lower():
                return person
        raise NotFoundError.of_name("person", email, (person.email for person in people if person.email))

    async def groups(self) -> list[PersonGroup]:
        """List the groups of people by name."""
        return [PersonGroup(data) for data in await self.transport.get("/groups")]

    async def tokens(self, *, everyone: bool = False) -> list[AsyncAccessToken]:
        """List your tokens, or those of everyone, newest first. `arcadia login` and the settings create tokens."""
        listed = await self.transport.get("/tokens", everyone=everyone or None)
        return [AsyncAccessToken(self.transport, data) for data in listed]

    async def revoke_all_tokens(self) -> None:
        """Revoke all of your tokens, including the token of this client. This takes effect within seconds."""
        await self.transport.delete("/tokens")

    async def sessions(self, *, everyone: bool = False) -> list[AsyncSignInSession]:
        """List your signed-in browsers, or those of everyone. The last used one comes first."""
        listed = await self.transport.get("/sessions", everyone=everyone or None)
        return [AsyncSignInSession(self.transport, data) for data in listed]

    async def audit(
        self,
        *,
        person: int | None = None,
        project: int | None = None,
        kind: str | None = None,
        action: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int | None = 50,
    ) -> list[AuditEntry]:
        """List entries of the audit log, newest first. Administrators of a project see those of the project."""
        entries = await self.transport.pages(
            "/audit",
            limit=limit,
            page_size=200,
            cursor_name="before",
            next_name="next_before",
            person_id=person,
            project_id=project,
            kind=kind,
            action=action,
            since=None if since is None else since.isoformat(),
            until=None if until is None else until.isoformat(),
        )
        return [AuditEntry(data) for data in entries]
