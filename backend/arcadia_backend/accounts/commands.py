"""`arcadia user`: people and one-time links, for everyone who can read the data folder."""

import argparse
import re
from collections.abc import Callable

from sqlalchemy.orm import Session

from arcadia_backend.accounts import people, sign_in
from arcadia_backend.config import Settings
from arcadia_backend.database.engine import Database, open_database
from arcadia_backend.database.scope import Scope, acting_as
from arcadia_backend.database.tables import Person
from arcadia_backend.errors import Problem
from arcadia_backend.refusals import RefusedError

# The page of one-time links. The secret follows as a fragment, which browsers do not send and servers do not log.
LINK_PATH = "/welcome#"
# Shown in the audit log.
HERE = Scope(everything=True, name="arcadia user")


def run(settings: Settings, options: argparse.Namespace) -> str:
    """Run a subcommand, and return what to print."""
    actions: dict[str, Callable[[Session, argparse.Namespace, str], str]] = {
        "list": _list,
        "add": _add,
        "link": lambda session, given, url: _link(session, people.find_by_email(session, given.email), url),
        "disable": lambda session, given, _url: _change(session, given.email, disabled=True),
        "enable": lambda session, given, _url: _change(session, given.email, disabled=False),
        "promote": lambda session, given, _url: _change(session, given.email, is_administrator=True),
    }
    database = open_database(settings)
    try:
        with acting_as(HERE), database.write() as session:
            return actions[options.action](session, options, settings.address)
    except Problem as problem:
        raise RefusedError(problem.detail) from None
    finally:
        database.close()


def first_link(database: Database, url: str) -> str | None:
    """Return a one-time link for the first administrator, or None if there is an account."""
    with acting_as(HERE), database.write() as session:
        if sign_in.has_accounts(session):
            return None
        return url + LINK_PATH + sign_in.create_link(session, "first")


def _list(session: Session, _options: argparse.Namespace, _url: str) -> str:
    lines = [_describe(person) for person in people.list_people(session)]
    return "\n".join(lines) or "Nobody has an account. `arcadia user add NAME EMAIL` adds the first administrator."


def _describe(person: Person) -> str:
    notes = [
        *(["administrator"] if person.is_administrator else []),
        *(["disabled"] if person.disabled_at is not None else []),
        *(["invited"] if person.password_hash is None else []),
    ]
    noted = ", ".join(notes)
    return f"{person.name} <{person.email or 'no e-mail address'}>{f' ({noted})' if noted else ''}"


def _add(session: Session, options: argparse.Namespace, url: str) -> str:
    email = options.email.strip().lower()
    if not re.fullmatch(people.ADDRESS, email):
        raise RefusedError(f"{email!r} is not an e-mail address, such as ana@example.org.")
    person = people.add(session, options.name.strip()[:100], email, is_administrator=options.administrator)
    return _link(session, person, url)


def _link(session: Session, person: Person, url: str) -> str:
    purpose = people.link_purpose(person)
    link = url + LINK_PATH + sign_in.create_link(session, purpose, person)
    hours = sign_in.LINK_LIFETIMES[purpose].total_seconds() / 3600
    return f"{person.name} chooses a password with this link, once within {hours:g} hours:\n{link}"


def _change(session: Session, email: str, **changes: bool) -> str:
    person = people.find_by_email(session, email)
    people.change(session, person, **changes)  # type: ignore[arg-type]
    return _describe(person)
