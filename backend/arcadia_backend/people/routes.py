"""/people and /groups: list, invite, change and disable people, and group them. For administrators."""

from fastapi import APIRouter, Request, Response

from arcadia_backend.accounts import people, sign_in, tokens
from arcadia_backend.accounts.roles import ROLES, forget_credentials
from arcadia_backend.database import tables
from arcadia_backend.database.engine import Db
from arcadia_backend.database.scope import current
from arcadia_backend.errors import Conflict
from arcadia_backend.people import schemas
from arcadia_backend.people.service import invite, require_accounts, to_groups, to_people, to_person
from arcadia_backend.projects.service import resolve
from arcadia_backend.web.idempotency import Idempotent
from arcadia_backend.web.lookup import PathId
from arcadia_backend.web.security import address_of
from arcadia_backend.web.sign_in import sign_in_person

router = APIRouter(tags=["people"])


@router.get("/people")
def list_people(db: Db) -> list[schemas.Person]:
    """Return all people by name."""
    with db.read() as session:
        return to_people(session, people.list_people(session))


@router.post("/people", status_code=201)
def invite_people(db: Db, new: schemas.InvitePeople) -> list[schemas.Invitation]:
    """Add people, and return one-time links with which they choose a password. Either all are added, or none."""
    with db.write() as session:
        require_accounts(session)
        project_id = None if new.project is None else resolve(session, new.project)
        invited = []
        for each in new.people:
            person = people.add(session, each.name, each.email, is_administrator=new.is_administrator)
            if project_id is not None:
                session.add(tables.ProjectRole(project_id=project_id, person_id=person.id, role=ROLES[new.role]))
            invited.append(invite(session, person))
        return invited


@router.post("/people/first", status_code=201)
def create_first_person(db: Db, request: Request, response: Response, new: schemas.FirstAccount) -> schemas.Person:
    """Create the first administrator, and sign them in. From then on everyone signs in."""
    with db.write() as session:
        person = people.add_first(session, new.name, new.email, new.password, address=address_of(request))
        sign_in_person(session, request, response, person)
        return to_person(session, person)


@router.get("/people/{person_id}")
def read_person(db: Db, person_id: PathId) -> schemas.Person:
    """Return a person."""
    with db.read() as session:
        return to_person(session, people.find_person(session, person_id))


@router.patch("/people/{person_id}")
def edit_person(db: Db, person_id: PathId, changes: schemas.EditPerson) -> schemas.Person:
    """Change a person. A disabled person is signed out, and their tokens are revoked."""
    with db.write() as session:
        person = people.find_person(session, person_id, lock=True)
        if changes.disabled and person.id == current().person_id:
            raise Conflict("You cannot disable your own account. Another administrator can.")
        people.change(session, person, **changes.model_dump())
        return to_person(session, person)


@router.post("/people/{person_id}/link")
def create_link(db: Db, person_id: PathId) -> schemas.Invitation:
    """Return a one-time link with which a person chooses a new password. Earlier links end."""
    with db.write() as session:
        return invite(session, people.find_person(session, person_id))


@router.delete("/people/{person_id}/sessions", status_code=204)
def sign_person_out(db: Db, person_id: PathId) -> Response:
    """Sign a person out in every browser."""
    with db.write() as session:
        sign_in.revoke_all(session, people.find_person(session, person_id))
    return Response(status_code=204)


@router.delete("/people/{person_id}/tokens", status_code=204)
def revoke_tokens_of_person(db: Db, person_id: PathId) -> Response:
    """Revoke all tokens of a person."""
    with db.write() as session:
        tokens.revoke_all(session, people.find_person(session, person_id))
    return Response(status_code=204)


@router.get("/groups")
def list_person_groups(db: Db) -> list[schemas.PersonGroup]:
    """Return all groups by name."""
    with db.read() as session:
        return to_groups(session, people.list_groups(session))


@router.post("/groups", status_code=201)
def create_person_group(db: Db, once: Idempotent, new: schemas.CreateGroup) -> schemas.PersonGroup:
    """Create a group."""
    with once.write(db) as session:
        group = tables.PersonGroup(name=new.name)
        people.set_group(session, group, None, new.members)
        return once.store(session, to_groups(session, [group])[0])


@router.patch("/groups/{group_id}")
def edit_person_group(db: Db, group_id: PathId, changes: schemas.EditGroup) -> schemas.PersonGroup:
    """Rename a group, or change its members."""
    with db.write() as session:
        group = people.find_group(session, group_id)
        people.set_group(session, group, changes.name, changes.members)
        return to_groups(session, [group])[0]


@router.delete("/groups/{group_id}", status_code=204)
def delete_person_group(db: Db, group_id: PathId) -> Response:
    """Delete a group with its roles. The people stay."""
    with db.write() as session:
        session.delete(people.find_group(session, group_id))
        forget_credentials(session)
    return Response(status_code=204)
