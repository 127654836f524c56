"""People and groups: create, invite, change and disable them. Every function works in the caller's transaction."""

import unicodedata
from collections.abc import Collection, Sequence
from typing import Annotated

from pydantic import StringConstraints
from sqlalchemy import delete, func, select, text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from arcadia_backend.accounts import audit, sign_in, tokens
from arcadia_backend.accounts.passwords import MAX_LENGTH, MIN_LENGTH, hash_password, matches
from arcadia_backend.accounts.roles import forget_credentials
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.tables import (
    GroupMember,
    LinkPurpose,
    OneTimeLink,
    Person,
    PersonGroup,
    PersonIdentity,
)
from arcadia_backend.errors import Conflict, FieldError, Invalid, NotFound, with_rule
from arcadia_workers.contract.values import STORABLE

ADDRESS = with_rule(r"^[^\s@]+@[^\s@]+$", "must be an e-mail address, such as ana@example.org")

PersonName = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100), STORABLE]
Email = Annotated[
    str, StringConstraints(strip_whitespace=True, to_lower=True, max_length=320, pattern=ADDRESS), STORABLE
]
GroupName = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100), STORABLE]
Password = Annotated[str, StringConstraints(min_length=MIN_LENGTH, max_length=MAX_LENGTH), STORABLE]


# The issuer of people whom a reverse proxy names.
PROXY_ISSUER = "reverse proxy"
# Small letters of other alphabets that look like Latin ones, or whose capitals do.
_LOOKALIKES = str.maketrans("авеікмнорстухѕјһԁԛԝαβεζηικμνορτυχ", "abeikmhopctyxsjhdqwabezhikmnoptyx")
# Letters and marks that show nothing, in addition to controls and spaces.
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5" + "".join(map(chr, range(0xFE00, 0xFE10))))
# The audit log shows the command line on the server's machine as "arcadia user".
_RESERVED = frozenset({"", "arcadiauser"})


def fold(name: str) -> str:
    """Return the part of a name that people can tell apart: without case, width, spaces and look-alike alphabets."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    hidden = ("Cc", "Cf", "Zs", "Zl", "Zp")
    visible = (each for each in folded if unicodedata.category(each) not in hidden and each not in _BLANK)
    return "".join(visible).translate(_LOOKALIKES)


def is_name_taken(session: Session, name: str, but: int | None = None) -> bool:
    """Return True if another person has a name that looks like this one. Audit entries show names."""
    others = session.execute(select(Person.name).where(Person.id != (but or 0))).scalars()
    return fold(name) in _RESERVED or fold(name) in map(fold, others)


def _check_name(session: Session, name: str, but: int | None = None) -> None:
    if is_name_taken(session, name, but):
        message = f"the name {name!r} is taken, or looks like a taken name. Add a last name or a team"
        raise Invalid(FieldError(field="name", message=message))


def find_person(session: Session, person_id: int, *, lock: bool = False) -> Person:
    """Return a person. Raise NotFound if there is none."""
    person = session.get(Person, person_id, with_for_update=True if lock else None)
    if person is None:
        raise NotFound(f"There is no person {person_id}.")
    return person


def find_by_email(session: Session, email: str) -> Person:
    """Return the person with an e-mail address. Raise Invalid if there is none."""
    person = find_account(session, email)
    if person is None:
        message = "nobody here has this e-mail address. Invite the person first"
        raise Invalid(FieldError(field="email", message=message))
    return person


def find_account(session: Session, email: str) -> Person | None:
    """Return the person with an e-mail address, or None."""
    return session.scalar(select(Person).where(Person.email == email.strip().lower()))


def list_people(session: Session) -> Sequence[Person]:
    """Return all people with accounts by name."""
    named = select(Person).where(Person.is_owner.is_(False))
    return session.scalars(named.order_by(func.lower(Person.name), Person.id)).all()


def list_administrators(session: Session) -> Sequence[str]:
    """Return the names of the enabled administrators of the installation."""
    enabled = (Person.is_administrator.is_(True), Person.disabled_at.is_(None))
    return session.scalars(select(Person.name).where(*enabled).order_by(func.lower(Person.name))).all()


def add(session: Session, name: str, email: str | None, *, is_administrator: bool = False) -> Person:
    """Add a person. The first one is the owner of what there is. Raise Conflict for a taken e-mail."""
    _lock_accounts(session)
    owner = sign_in.find_owner(session)
    _check_name(session, name)
    person = owner or Person()
    person.name, person.email, person.is_owner = name, email, False
    person.is_administrator = is_administrator or owner is not None
    session.add(person)
    _flush(session, email)
    if owner is not None:
        sign_in.revoke_all(session, person)
        session.execute(delete(OneTimeLink).where(OneTimeLink.purpose == "first"))
    forget_credentials(session)
    return person


def add_first(session: Session, name: str, email: str, password: str, *, address: str | None = None) -> Person:
    """Add the first administrator with a password. Raise Conflict if there is an account already."""
    _lock_accounts(session)
    if sign_in.has_accounts(session):
        raise Conflict("There is an account already. Sign in, or ask an administrator for an invitation.")
    person = add(session, name, email)
    set_password(session, person, password)
    audit.record(session, "create first account", "person", person.id, person.name, by=person, address=address)
    return person


def find_identity(session: Session, issuer: str, subject: str) -> Person | None:
    """Return the person of an identity at a provider, or None. Proxies spell a name with any case."""
    query = select(Person).join(PersonIdentity, PersonIdentity.person_id == Person.id)
    query = query.where(PersonIdentity.issuer == issuer)
    person = session.scalar(query.where(PersonIdentity.subject == subject))
    if person is not None or issuer != PROXY_ISSUER:
        return person
    # The earliest one, if there are several people from a time when case counted.
    spellings = session.execute(query.add_columns(PersonIdentity.subject).order_by(PersonIdentity.id))
    return next((each for each, known in spellings if _same_case(known) == _same_case(subject)), None)


def _same_case(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold()


def has_identity(session: Session, person: Person, issuer: str) -> bool:
    """Return True if a person signs in at a provider."""
    query = select(PersonIdentity.id).where(PersonIdentity.person_id == person.id, PersonIdentity.issuer == issuer)
    return session.scalar(query) is not None


def find_or_add_identity(session: Session, issuer: str, subject: str, name: str, email: str | None) -> Person:
    """Return the person of an identity at a provider. Add one at the first sign-in, never linked by e-mail alone."""
    if (person := find_identity(session, issuer, subject)) is not None:
        return person
    # Two first requests may arrive at once. The second one finds the person here.
    _lock_accounts(session)
    if (person := find_identity(session, issuer, subject)) is not None:
        return person
    is_taken = email is not None and session.scalar(select(Person.id).where(Person.email == email.lower()))
    shown = _free_name(session, name.strip() or subject, email or (issuer if issuer == PROXY_ISSUER else subject))
    person = Person(name=shown, email=None if is_taken or not email else email.lower())
    session.add(person)
    session.flush()
    session.add(PersonIdentity(person_id=person.id, issuer=issuer, subject=subject))
    session.flush()
    audit.record(session, "create", "person", person.id, person.name, by=person, after={"issuer": issuer})
    forget_credentials(session)
    return person


def _free_name(session: Session, name: str, detail: str) -> str:
    """Return the name of a new person of a provider, with more words if somebody has it already."""
    endings = ["", f" ({detail[:40]})", *(f" ({number})" for number in range(2, 1_000))]
    names = (name[: 100 - len(ending)] + ending for ending in endings)
    return next(each for each in names if not is_name_taken(session, each))


def change(
    session: Session,
    person: Person,
    *,
    name: str | None = None,
    email: str | None = None,
    is_administrator: bool | None = None,
    disabled: bool | None = None,
) -> None:
    """Change a person. Raise Conflict if no enabled administrator would remain. Disabling ends sessions and tokens."""
    _lock_accounts(session)
    if name is not None and fold(name) != fold(person.name):
        _check_name(session, name, person.id)
    person.name = person.name if name is None else name
    person.email = person.email if email is None else email
    person.is_administrator = person.is_administrator if is_administrator is None else is_administrator
    if disabled is not None and disabled != (person.disabled_at is not None):
        person.disabled_at = utc_now() if disabled else None
        if disabled:
            sign_in.revoke_all(session, person)
            tokens.revoke_all(session, person)
    _flush(session, email)
    enabled = (Person.is_administrator.is_(True), Person.disabled_at.is_(None))
    if not session.scalar(select(func.count()).select_from(Person).where(*enabled)):
        raise Conflict("Somebody else must become an administrator first, because nobody else could add people.")
    forget_credentials(session)


def set_password(session: Session, person: Person, password: str) -> None:
    """Store a new password. Earlier links of the person end."""
    person.password_hash = hash_password(password)
    session.execute(delete(OneTimeLink).where(OneTimeLink.person_id == person.id))
    session.flush()
    forget_credentials(session)


def change_password(session: Session, person: Person, old: str, new: str, keep_session: int | None) -> None:
    """Replace a password, and end all other sessions. Raise Invalid if the old one is wrong.

    Only an administrator's link gives a first password to a person of a provider, so that leaving it is enough.
    """
    if person.password_hash is None:
        raise Conflict("You sign in without a password. An administrator can allow one with a one-time link.")
    if not matches(person.password_hash, old):
        raise Invalid(FieldError(field="old_password", message="is wrong"))
    set_password(session, person, new)
    sign_in.revoke_all(session, person, keep=keep_session)
    audit.record(session, "change password", "person", person.id, person.name)


def accept_link(session: Session, secret: str, password: str, *, name: str = "", email: str = "") -> Person:
    """Use a one-time link: set the password, or create the first administrator. Raise LinkExpired if it has ended."""
    link = sign_in.find_link(session, secret, lock=True)
    if link.person_id is None:
        if not name or not email:
            raise Invalid(FieldError(field="name" if email else "email", message="must not be empty"))
        return add_first(session, name, email, password)
    person = find_person(session, link.person_id)
    if person.disabled_at is not None:
        raise sign_in.LinkExpired
    link.used_at = utc_now()
    session.flush()
    set_password(session, person, password)
    sign_in.revoke_all(session, person, by=person)
    audit.record(session, "choose password", "person", person.id, person.name, by=person)
    return person


def link_purpose(person: Person) -> LinkPurpose:
    """Return the use of a new link of a person: the first password, or another one."""
    return "invite" if person.password_hash is None else "reset"


def find_group(session: Session, group_id: int) -> PersonGroup:
    """Return a group. Raise NotFound if there is none."""
    group = session.get(PersonGroup, group_id)
    if group is None:
        raise NotFound(f"There is no group {group_id}.")
    return group


def list_groups(session: Session) -> Sequence[PersonGroup]:
    """Return all groups by name."""
    return session.scalars(select(PersonGroup).order_by(func.lower(PersonGroup.name))).all()


def members_of(session: Session, group_ids: Collection[int]) -> dict[int, list[int]]:
    """Return the ids of the people in each of these groups."""
    query = select(GroupMember.group_id, GroupMember.person_id).where(GroupMember.group_id.in_(group_ids))
    members: dict[int, list[int]] = {group_id: [] for group_id in group_ids}
    for group_id, person_id in session.execute(query.order_by(GroupMember.person_id)):
        members[group_id].append(person_id)
    return members


def set_group(session: Session, group: PersonGroup, name: str | None, member_ids: Collection[int] | None) -> None:
    """Change the name or the members of a group. Raise Conflict for a taken name."""
    if name is not None:
        group.name = name
    session.add(group)
    try:
        session.flush()
    except IntegrityError as error:
        raise Conflict(f"There is already a group {group.name!r}.") from error
    if member_ids is not None:
        wanted = set(member_ids)
        known = set(session.scalars(select(Person.id).where(Person.id.in_(wanted))))
        if missing := wanted - known:
            raise Invalid(FieldError(field="members", message=f"there is no person {min(missing)}"))
        current = {
            member.person_id: member
            for member in session.scalars(select(GroupMember).where(GroupMember.group_id == group.id))
        }
        for person_id in sorted(wanted - current.keys()):
            session.add(GroupMember(group_id=group.id, person_id=person_id))
        for person_id in sorted(current.keys() - wanted):
            session.delete(current[person_id])
        session.flush()
    forget_credentials(session)


def set_groups_of(session: Session, person: Person, names: Collection[str]) -> None:
    """Set the groups of a person that come from an OpenID provider. Other groups stay."""
    # Two sign-ins may add the same group, or the same member, at once.
    _lock_accounts(session)
    wanted = {name[:100] for name in names if name}
    groups = session.scalars(select(PersonGroup).where(PersonGroup.name.in_(wanted))).all()
    for name in sorted(wanted - {group.name for group in groups}):
        session.add(PersonGroup(name=name, from_oidc=True))
    session.flush()
    provided = session.scalars(select(PersonGroup).where(PersonGroup.from_oidc.is_(True))).all()
    joined = set(session.scalars(select(GroupMember.group_id).where(GroupMember.person_id == person.id)))
    for group in provided:
        if group.name in wanted and group.id not in joined:
            session.add(GroupMember(group_id=group.id, person_id=person.id))
        elif group.name not in wanted and group.id in joined:
            session.delete(session.get_one(GroupMember, (group.id, person.id)))
    session.flush()
    forget_credentials(session)


def _flush(session: Session, email: str | None) -> None:
    try:
        session.flush()
    except IntegrityError as error:
        raise Conflict(f"Somebody has the e-mail address {email} already.") from error


def _lock_accounts(session: Session) -> None:
    """Let changes of administrators wait for each other. SQLite has one writer anyway."""
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text("SELECT pg_advisory_xact_lock(7201603)"))
