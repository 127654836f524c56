"""Request and response schemas of accounts."""

from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from arcadia_backend.accounts.people import Email, GroupName, Password, PersonName
from arcadia_backend.accounts.roles import RoleName
from arcadia_backend.accounts.tokens import TokenScope
from arcadia_backend.projects.schemas import ProjectName
from arcadia_workers.contract.values import STORABLE, Id

TokenName = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100), STORABLE]
MAX_DAYS = 3_660
TokenScopes = Annotated[list[TokenScope], Field(min_length=1, max_length=4)]
TokenDays = (
    Annotated[
        int,
        Field(
            ge=1,
            le=MAX_DAYS,
            description="Days until it expires, at most ARCADIA_MAX_TOKEN_DAYS. Null for never, if that is 0.",
        ),
    ]
    | None
)
Proof = Literal["password", "provider"]


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid")


class HeldRole(BaseModel):
    """A role in a project."""

    project_id: int
    project: str
    role: RoleName
    group: str | None = Field(default=None, description="The group that it comes from. Null for an own role.")


class Person(BaseModel):
    """A person with an account."""

    id: int
    name: str
    email: str | None
    is_administrator: bool = Field(description="Administers the installation: sees and changes everything.")
    disabled: bool = Field(description="True if they cannot sign in.")
    has_password: bool = Field(description="False until they open their invitation, and for people of a provider.")
    created_at: datetime
    last_seen_at: datetime | None = Field(description="When they last used a session.")
    roles: list[HeldRole]


class NewPerson(_Request):
    """A person to invite."""

    name: PersonName
    email: Email


NewPeople = Annotated[list[NewPerson], Field(min_length=1, max_length=50)]


class InvitePeople(_Request):
    """People to invite. Without a role they see only projects that are open to everyone."""

    people: NewPeople
    is_administrator: bool = False
    project: ProjectName | None = Field(default=None, description="Project for the first role.")
    role: RoleName = "editor"


class InviteMembers(_Request):
    """People to invite into a project."""

    people: NewPeople
    role: Literal["viewer", "editor"]


class EditPerson(_Request):
    """Changes to a person. Omitted fields stay unchanged."""

    name: PersonName | None = None
    email: Email | None = None
    is_administrator: bool | None = None
    disabled: bool | None = None


class FirstAccount(_Request):
    """The first administrator, who gets all earlier runs."""

    name: PersonName
    email: Email
    password: Password


class PersonRef(BaseModel):
    """A person by name."""

    id: int
    name: str


class Invitation(BaseModel):
    """A one-time link for a person. It is shown once."""

    person: PersonRef
    email: str | None
    path: str | None = Field(
        description="Path of the link on this server. Append it to the server's address. Null for a person who has an "
        "account already, and only got the role."
    )
    expires_at: datetime | None


class PersonGroup(BaseModel):
    """A group of people."""

    id: int
    name: str
    from_oidc: bool = Field(description="True if an OpenID provider decides who belongs to it.")
    members: list[PersonRef]


class CreateGroup(_Request):
    """A group to create."""

    name: GroupName
    members: Annotated[list[Id], Field(max_length=1_000, description="Ids of people.")] = []


class EditGroup(_Request):
    """Changes to a group. Omitted fields stay unchanged."""

    name: GroupName | None = None
    members: Annotated[list[Id], Field(max_length=1_000, description="Ids of people.")] | None = None


class ProjectMember(BaseModel):
    """A person or a group with a role in a project."""

    id: int
    role: RoleName
    person: PersonRef | None
    group: PersonRef | None = Field(description="The group, if it is not a person.")


class ProjectMembers(BaseModel):
    """Who may do what in a project. Administrators of the installation may do everything."""

    everyone: RoleName | None = Field(description="Role of everyone with an account.")
    items: list[ProjectMember]
    your_role: RoleName | None


class AddMember(_Request):
    """A person, by e-mail address, or a group to give a role in a project."""

    email: Email | None = None
    group: GroupName | None = None
    role: RoleName

    @model_validator(mode="after")
    def _check_holder(self) -> Self:
        if (self.email is None) == (self.group is None):
            raise ValueError("give either email or group")
        return self


class EditMember(_Request):
    """The new role of a member."""

    role: RoleName


class EditMembers(_Request):
    """The role of everyone with an account, or null for none."""

    everyone: RoleName | None


class Account(BaseModel):
    """The account of the caller."""

    person: Person | None = Field(description="Null without accounts, and with ARCADIA_TOKEN.")
    is_administrator: bool = Field(description="True if the caller may administer the installation.")
    can_create_first: bool = Field(description="True if nobody has an account yet, and the caller may create one.")
    has_role: bool = Field(description="True if you have a role in any project, or administer the installation.")
    administrators: list[str] = Field(
        description="Names of administrators of the installation, who can give you a role. Empty if you have one."
    )
    session_id: int | None
    fresh_until: datetime | None = Field(
        description="Until when this browser may change credentials. Null if the person has to sign in again for that."
    )
    proofs: list[Proof] = Field(description="How the person of this browser can sign in again.")
    max_token_days: int | None = Field(description="Longest lifetime of a token in days. Null if it is not limited.")


class EditAccount(_Request):
    """Changes to your account."""

    name: PersonName


class ChangePassword(_Request):
    """Your old and your new password. All other sessions end."""

    old_password: Annotated[str, Field(max_length=500)]
    new_password: Password


class OpenSession(BaseModel):
    """A signed-in browser."""

    id: int
    person: PersonRef
    created_at: datetime
    last_used_at: datetime
    address: str
    browser: str
    is_current: bool


class AccessToken(BaseModel):
    """An access token. Its secret was shown when it was created."""

    id: int
    name: str
    person: PersonRef | None
    scopes: list[TokenScope]
    project: str | None = Field(description="The only project that it opens. Null for all of the person's.")
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None
    last_address: str | None


class CreateToken(_Request):
    """A token to create. It never has more rights than you."""

    name: TokenName
    scopes: TokenScopes
    project: ProjectName | None = Field(default=None, description="Only project that it opens.")
    days: TokenDays = 90


class HostCode(BaseModel):
    """A code with which one host joins, by `arcadia worker join URL CODE`. It is shown once."""

    code: str
    expires_at: datetime
    commands: list[str] = Field(description="Commands for a bare host with Python.")
    has_package: bool = Field(description="False if this server does not offer the package that they install.")


class JoinHost(_Request):
    """A host that joins with its code."""

    code: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100), STORABLE]
    name: TokenName


class JoinedHost(BaseModel):
    """The token of a host, for its workers."""

    name: str
    secret: str = Field(description="The worker token. It is shown once.")
    expires_at: datetime | None


class StartLogin(_Request):
    """A command line that asks for a token."""

    name: TokenName
    scopes: TokenScopes


class StartedLogin(BaseModel):
    """A login that waits for a person, who opens the page and confirms the code."""

    secret: str = Field(description="Send it to `/session/device/token`. Keep it secret.")
    code: str = Field(description="Show it to the person.")
    path: str = Field(description="Path of the page on this server.")
    path_with_code: str = Field(description="The same page with the code, for a browser on this machine.")
    expires_in: int = Field(description="Seconds until the login ends.")
    interval: int = Field(description="Seconds to wait between two requests for the token.")


class LoginSecret(_Request):
    """The secret of a login."""

    secret: str = Field(max_length=100)


class LoginCode(_Request):
    """The short code of a login. Case and hyphens do not matter."""

    code: Annotated[str, StringConstraints(min_length=1, max_length=40), STORABLE]


class ConfirmLogin(LoginCode):
    """The rights of the token of a login. It never has more rights than you."""

    scopes: TokenScopes
    project: ProjectName | None = Field(default=None, description="Only project that it opens.")
    days: TokenDays = 90


class WaitingLogin(BaseModel):
    """A command line that waits for a token."""

    model_config = ConfigDict(from_attributes=True)

    name: str = Field(description="Name of the token. The command line has chosen it.")
    address: str = Field(description="Address that the request came from.")
    scopes: list[TokenScope]
    created_at: datetime
    expires_at: datetime


class CreatedToken(AccessToken):
    """A new token with its secret."""

    secret: str = Field(description="Send it as: Authorization: Bearer … It is not shown again.")


class AuditEntry(BaseModel):
    """An action of a person or a token."""

    model_config = ConfigDict(from_attributes=True)

    id: int
    at: datetime
    person_id: int | None
    name: str = Field(description="Who acted.")
    token_id: int | None
    address: str
    action: str = Field(description="A verb, such as create, change or delete.")
    kind: str = Field(description="Kind of the object, such as run or person.")
    object_id: str
    object_name: str
    project_id: int | None
    before: dict[str, Any] | None = Field(description="Old values of the changed settings.")
    after: dict[str, Any] | None = Field(description="New values.")


class AuditedPerson(PersonRef):
    """A person with entries in the audit log."""

    email: str | None = Field(description="Only administrators of the installation see it.")


class AuditedProject(BaseModel):
    """A project with entries in the audit log."""

    id: int
    name: str = Field(description="The last one, if it was deleted.")


class AuditFacets(BaseModel):
    """Values to filter the audit log by: those that occur in the entries that you may see."""

    kinds: list[str]
    actions: list[str]
    people: list[AuditedPerson] = Field(description="With the names that they have now.")
    projects: list[AuditedProject]


class AuditPage(BaseModel):
    """Entries of the audit log, newest first."""

    items: list[AuditEntry]
    next_before: int | None = Field(description="`before` of the next page. Null on the last one.")
