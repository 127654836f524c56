"""/projects/{id}/members: who may do what in a project. Its administrators change it."""

from fastapi import APIRouter, Response
from sqlalchemy import select
from sqlalchemy.orm import Session

from arcadia_backend.accounts import people
from arcadia_backend.accounts.roles import ROLE_NAMES, ROLES, RoleName, access_to_accounts, forget_credentials
from arcadia_backend.database import tables
from arcadia_backend.database.engine import Db
from arcadia_backend.database.scope import current
from arcadia_backend.errors import FieldError, Invalid, NotFound
from arcadia_backend.people import schemas
from arcadia_backend.people.service import invite, require_accounts
from arcadia_backend.projects.service import find_project
from arcadia_backend.web.lookup import PathId

router = APIRouter(tags=["people"])


def _to_members(session: Session, project: tables.Project) -> schemas.ProjectMembers:
    role = tables.ProjectRole
    query = (
        select(role.id, role.role, tables.Person, tables.PersonGroup)
        .outerjoin(tables.Person, tables.Person.id == role.person_id)
        .outerjoin(tables.PersonGroup, tables.PersonGroup.id == role.group_id)
        .where(role.project_id == project.id)
        .order_by(role.role.desc(), role.id)
    )
    with access_to_accounts():
        rows = session.execute(query).all()
    yours = current().role(project.id)
    return schemas.ProjectMembers(
        everyone=None if project.open_role is None else ROLE_NAMES[project.open_role],
        items=[
            schemas.ProjectMember(
                id=role_id,
                role=ROLE_NAMES[held],
                person=schemas.PersonRef(id=person.id, name=person.name) if person else None,
                group=schemas.PersonRef(id=group.id, name=group.name) if group else None,
            )
            for role_id, held, person, group in rows
        ],
        your_role=None if yours is None else ROLE_NAMES[int(yours)],
    )


def _find_role(session: Session, project: tables.Project, role_id: int) -> tables.ProjectRole:
    role = session.get(tables.ProjectRole, role_id)
    if role is None or role.project_id != project.id:
        raise NotFound(f"There is no member {role_id} of this project.")
    return role


@router.get("/projects/{project_id}/members")
def list_members(db: Db, project_id: PathId) -> schemas.ProjectMembers:
    """Return the people and groups with a role in a project. Administrators come first."""
    with db.read() as session:
        return _to_members(session, find_project(session, project_id))


@router.post("/projects/{project_id}/invitations", status_code=201)
def invite_members(db: Db, project_id: PathId, new: schemas.InviteMembers) -> list[schemas.Invitation]:
    """Add people with a role in a project, and return their one-time links. Either all are added, or none.

    A person who has an account already gets the role, unless they have a higher one, and no link.
    """
    with db.write() as session:
        require_accounts(session)
        project = find_project(session, project_id, lock=True)
        invitations = []
        for each in new.people:
            person = people.find_account(session, each.email)
            if person is None:
                person = people.add(session, each.name, each.email)
                invitation = invite(session, person)
            else:
                shown = schemas.PersonRef(id=person.id, name=person.name)
                invitation = schemas.Invitation(person=shown, email=person.email, path=None, expires_at=None)
            _give_role(session, project, {"person_id": person.id}, new.role, keeps_higher=True)
            invitations.append(invitation)
        return invitations


@router.post("/projects/{project_id}/members")
def add_member(db: Db, project_id: PathId, new: schemas.AddMember) -> schemas.ProjectMembers:
    """Give a person or a group a role in a project, or change it."""
    with db.write() as session:
        project = find_project(session, project_id, lock=True)
        _give_role(session, project, _holder(session, new), new.role)
        return _to_members(session, project)


@router.patch("/projects/{project_id}/members")
def edit_members(db: Db, project_id: PathId, changes: schemas.EditMembers) -> schemas.ProjectMembers:
    """Open a project to everyone with an account, or close it."""
    with db.write() as session:
        project = find_project(session, project_id, lock=True)
        project.open_role = None if changes.everyone is None else int(ROLES[changes.everyone])
        session.flush()
        forget_credentials(session)
        return _to_members(session, project)


@router.patch("/projects/{project_id}/members/{role_id}")
def edit_member(db: Db, project_id: PathId, role_id: PathId, changes: schemas.EditMember) -> schemas.ProjectMembers:
    """Change the role of a member."""
    with db.write() as session:
        project = find_project(session, project_id, lock=True)
        _find_role(session, project, role_id).role = int(ROLES[changes.role])
        session.flush()
        forget_credentials(session)
        return _to_members(session, project)


@router.delete("/projects/{project_id}/members/{role_id}", status_code=204)
def remove_member(db: Db, project_id: PathId, role_id: PathId) -> Response:
    """Take a role in a project away from a person or a group."""
    with db.write() as session:
        project = find_project(session, project_id, lock=True)
        session.delete(_find_role(session, project, role_id))
        session.flush()
        forget_credentials(session)
    return Response(status_code=204)


def _give_role(
    session: Session, project: tables.Project, holder: dict[str, int], role: RoleName, *, keeps_higher: bool = False
) -> None:
    query = select(tables.ProjectRole).where(tables.ProjectRole.project_id == project.id)
    row = session.scalar(query.filter_by(**holder))
    if row is None:
        row = tables.ProjectRole(project_id=project.id, role=0, **holder)
        session.add(row)
    row.role = max(int(ROLES[role]), row.role if keeps_higher else 0)
    session.flush()
    forget_credentials(session)


def _holder(session: Session, new: schemas.AddMember) -> dict[str, int]:
    if new.email is not None:
        return {"person_id": people.find_by_email(session, new.email).id}
    group_id = session.scalar(select(tables.PersonGroup.id).where(tables.PersonGroup.name == new.group))
    if group_id is None:
        raise Invalid(FieldError(field="group", message="there is no such group. Administrators create groups"))
    return {"group_id": group_id}
