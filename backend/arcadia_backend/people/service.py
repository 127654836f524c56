"""People, groups and invitations as the API returns them."""

from collections.abc import Iterable, Sequence

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from arcadia_backend.accounts import people, sign_in
from arcadia_backend.accounts.commands import LINK_PATH
from arcadia_backend.accounts.roles import ROLE_NAMES, access_to_accounts
from arcadia_backend.database import tables
from arcadia_backend.database.columns import utc_now
from arcadia_backend.errors import Conflict
from arcadia_backend.people import schemas


def to_people(session: Session, rows: Sequence[tables.Person]) -> list[schemas.Person]:
    """Return people with their roles and when they were last seen."""
    ids = [person.id for person in rows]
    used = select(tables.SignInSession.person_id, func.max(tables.SignInSession.last_used_at))
    of_people = used.where(tables.SignInSession.person_id.in_(ids)).group_by(tables.SignInSession.person_id)
    seen = {row[0]: row[1] for row in session.execute(of_people)}
    roles = _roles_of(session, ids)
    return [
        schemas.Person(
            id=person.id,
            name=person.name,
            email=person.email,
            is_administrator=person.is_administrator,
            disabled=person.disabled_at is not None,
            has_password=person.password_hash is not None,
            created_at=person.created_at,
            last_seen_at=seen.get(person.id),
            roles=roles.get(person.id, []),
        )
        for person in rows
    ]


def to_person(session: Session, person: tables.Person) -> schemas.Person:
    """Return a person as the API shows it."""
    return to_people(session, [person])[0]


def _roles_of(session: Session, ids: Iterable[int]) -> dict[int, list[schemas.HeldRole]]:
    role, project, member, group = tables.ProjectRole, tables.Project, tables.GroupMember, tables.PersonGroup
    ids = list(ids)
    columns = (project.id, project.name, role.role)
    own = select(role.person_id, *columns).join(project, project.id == role.project_id).where(role.person_id.in_(ids))
    of_groups = (
        select(member.person_id, *columns, group.name)
        .select_from(role)
        .join(project, project.id == role.project_id)
        .join(member, member.group_id == role.group_id)
        .join(group, group.id == role.group_id)
        .where(member.person_id.in_(ids))
    )
    roles: dict[int, list[schemas.HeldRole]] = {}
    with access_to_accounts():
        rows = [*session.execute(own), *session.execute(of_groups)]
    for person_id, project_id, name, held, *groups in rows:
        entry = schemas.HeldRole(
            project_id=project_id, project=name, role=ROLE_NAMES[held], group=groups[0] if groups else None
        )
        roles.setdefault(person_id, []).append(entry)
    return roles


def require_accounts(session: Session) -> None:
    """Raise Conflict if nobody has an account, because the first one administers the installation."""
    if not sign_in.has_accounts(session):
        raise Conflict("Create your own account first. It administers the installation.")


def invite(session: Session, person: tables.Person) -> schemas.Invitation:
    """Return a new one-time link of a person."""
    purpose = people.link_purpose(person)
    secret = sign_in.create_link(session, purpose, person)
    expires_at = utc_now() + sign_in.LINK_LIFETIMES[purpose]
    shown = schemas.PersonRef(id=person.id, name=person.name)
    return schemas.Invitation(person=shown, email=person.email, path=LINK_PATH + secret, expires_at=expires_at)


def to_groups(session: Session, groups: Sequence[tables.PersonGroup]) -> list[schemas.PersonGroup]:
    """Return groups with the names of their members."""
    members = people.members_of(session, [group.id for group in groups])
    ids = {person_id for each in members.values() for person_id in each}
    query = select(tables.Person.id, tables.Person.name).where(tables.Person.id.in_(ids))
    names = {row.id: row.name for row in session.execute(query)}
    return [
        schemas.PersonGroup(
            id=group.id,
            name=group.name,
            from_oidc=group.from_oidc,
            members=[schemas.PersonRef(id=each, name=names[each]) for each in members[group.id]],
        )
        for group in groups
    ]
