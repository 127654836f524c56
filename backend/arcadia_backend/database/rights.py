"""The rule of rights: who acts sees and changes only rows of their projects.

PROJECT_OF says for each table how a row reaches its project. Each query of a limited scope gets the matching condition,
and each flush checks that the changed rows are in projects in which the scope may write. Routes do not repeat the rule.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any, cast

from sqlalchemy import (
    BigInteger,
    BindParameter,
    ColumnElement,
    FromClause,
    Select,
    Table,
    and_,
    bindparam,
    event,
    false,
    inspect,
    literal_column,
    or_,
    select,
    true,
)
from sqlalchemy.orm import LoaderCriteriaOption, Mapper, ORMExecuteState, Session, UOWTransaction, aliased
from sqlalchemy.orm.interfaces import CriteriaOption
from sqlalchemy.sql.util import _deep_annotate
from sqlalchemy.sql.visitors import InternalTraversal

from arcadia_backend.database.ownership import LIMITED, PROJECT_OF, AnyOf, BulkRuns, Own, Through, UsedBy
from arcadia_backend.database.scope import OWNER, Role, Scope, acting_as, current
from arcadia_backend.database.tables import Base, Person, ProjectRole
from arcadia_backend.errors import Problem

# Names of bound parameters with the projects of the scope, and of the aliases of tables in conditions.
MARKER = "rights_"
# Prefix of the aliases of `beside_run`.
BESIDE_RUN = "beside_run_"
MAX_NAMED_ADMINISTRATORS = 5


class MissingRight(Problem):
    """The caller may see the object, or is known, but lacks the right to do this."""

    status = 403
    kind = "missing-right"
    title = "Missing right"


class UnlimitedQueryError(RuntimeError):
    """A query of a limited scope that lacks the condition of a table. It is an error of this program."""


@contextmanager
def backend_rights(session: Session) -> Iterator[None]:
    """Read and change rows of all projects inside the block, to keep the database consistent.

    Pending changes are checked before.
    """
    if current().everything:
        yield
        return
    session.flush()
    with acting_as(replace(current(), everything=True)):
        yield
        session.flush()


def may_edit(model: type[Base]) -> ColumnElement[bool]:
    """Return the condition for rows of a model that the scope may change, for queries that list what to change."""
    if current().everything:
        return true()
    mapper = inspect(model)
    return _condition(mapper.local_table, _projects(mapper, Role.EDITOR), name_of(mapper))


def beside_run(model: type[Base], number: int) -> Any:
    """Return an alias for rows that a query joins to Run by their `run_id`, with a number that is unique in the query.

    A row is visible with its run. The database does not look up the run again for each row.
    """
    return aliased(model, name=f"{BESIDE_RUN}{number}")


def name_of(mapper: Mapper[Any]) -> str:
    """Return the name of a table."""
    return str(cast("Table", mapper.local_table).name)


def _projects(mapper: Mapper[Any], role: Role) -> BindParameter[Any]:
    """Return a parameter with the projects of the scope that acts when the query is executed."""
    name = f"{MARKER}{name_of(mapper)}"
    values = lambda: sorted(current().projects_as(role))  # noqa: E731 - each parameter has its own
    return bindparam(name, callable_=values, expanding=True, type_=BigInteger())


def _condition(table: FromClause, projects: BindParameter[Any], name: str, depth: int = 0) -> ColumnElement[bool]:
    """Return the condition for rows of a table, or of an alias of it, in some projects."""
    match way := PROJECT_OF[name]:
        case Own(column):
            return table.c[column].in_(projects)
        case Through() if str(getattr(table, "name", "")).startswith(BESIDE_RUN):
            return Base.metadata.tables[way.table].c.project_id.in_(projects)
        case Through():
            condition = _through(table, way, projects, depth)
            return or_(table.c[way.column].is_(None), condition) if way.outer else condition
        case AnyOf(ways):
            return or_(*_alternatives(table, ways, projects, depth))
        case BulkRuns():
            return _of_bulk(table, projects)
    raise ValueError(f"{name} belongs to no project")


def _through(table: FromClause, way: Through, projects: BindParameter[Any], depth: int) -> ColumnElement[bool]:
    parent = _alias(way.table, depth)
    same = _key(parent) == table.c[way.column]
    return _exists(parent, same, _condition(parent, projects, way.table, depth + 1))


def _alternatives(
    table: FromClause, ways: Sequence[Through | UsedBy], projects: BindParameter[Any], depth: int
) -> Iterator[ColumnElement[bool]]:
    earlier: list[ColumnElement[bool]] = []
    for way in ways:
        if isinstance(way, Through):
            # A row with a run is never visible by its job, which may have none.
            yield and_(*earlier, _through(table, way, projects, depth))
            earlier = [*earlier, table.c[way.column].is_(None)]
        else:
            user = _alias(way.table, depth)
            same = user.c[way.column] == table.c[way.key]
            yield _exists(user, same, _condition(user, projects, way.table, depth + 1))


def _of_bulk(table: FromClause, projects: BindParameter[Any]) -> ColumnElement[bool]:
    """Return the condition for own bulk actions, and for those that have runs here, and none that is hidden.

    An action that purges runs has none at its end.
    """
    listed, run = _alias("bulk_action_runs", 0), _alias("runs", 1)
    of_action = listed.c.bulk_action_id == table.c.id
    both = listed.join(run, run.c.id == listed.c.run_id)
    of_project = run.c.project_id
    seen: Select[Any] = select(literal_column("1")).select_from(both).where(of_action, of_project.in_(projects))
    hidden: Select[Any] = select(literal_column("1")).select_from(both).where(of_action, of_project.not_in(projects))
    person = bindparam(f"{MARKER}person", callable_=lambda: current().person_id, type_=BigInteger())
    return or_(
        table.c.person_id == person,
        and_(seen.correlate_except(listed, run).exists(), ~hidden.correlate_except(listed, run).exists()),
    )


def _exists(table: FromClause, *conditions: ColumnElement[bool]) -> ColumnElement[bool]:
    # A correlated EXISTS is a look-up by key for each row. An IN would read all runs of the projects first.
    query: Select[Any] = select(literal_column("1")).select_from(table).where(*conditions)
    return query.correlate_except(table).exists()


def _alias(table: str, depth: int) -> FromClause:
    return Base.metadata.tables[table].alias(f"{MARKER}{depth}_{table}")


def _key(table: FromClause) -> ColumnElement[Any]:
    [column] = table.primary_key
    return column


class RightsOption(CriteriaOption):
    """Option of a statement that adds the condition of each table that it reads or changes.

    It stands for one criterion of each table, so that its part of the cache key is a single word.
    """

    __slots__ = ("role",)
    _cache_key_traversal = [("role", InternalTraversal.dp_string)]  # noqa: RUF012 - a name of SQLAlchemy's
    propagate_to_loaders = False

    def __init__(self, role: Role) -> None:
        self.role = role.name

    def process_compile_state(self, compile_state: Any) -> None:
        """Add the conditions to a query."""
        self.get_global_criteria(compile_state.global_attributes)

    def process_compile_state_replaced_entities(self, compile_state: Any, mapper_entities: Any) -> None:  # noqa: ARG002
        """Add the conditions to a query whose columns were replaced."""
        self.get_global_criteria(compile_state.global_attributes)

    def get_global_criteria(self, attributes: dict[Any, Any]) -> None:
        """Add the conditions to a change of many rows."""
        for criterion in _criteria[self.role]:
            criterion.get_global_criteria(attributes)


_criteria: dict[str, list[LoaderCriteriaOption]] = {}
_options = {role: RightsOption(role) for role in (Role.VIEWER, Role.EDITOR)}


def prepare() -> None:
    """Make the conditions of all tables. Raise ValueError if PROJECT_OF lacks a table, or has one too many."""
    models: list[Mapper[Any]] = [*Base.registry.mappers]
    tables = {name_of(mapper) for mapper in models}
    if tables != PROJECT_OF.keys():
        wrong = ", ".join(sorted(tables ^ PROJECT_OF.keys()))
        raise ValueError(f"PROJECT_OF in database/ownership.py must name each table once. It differs in: {wrong}")
    for role in _options:
        _criteria[role.name] = [TableCriterion(mapper, role) for mapper in models if name_of(mapper) in LIMITED]


class TableCriterion(LoaderCriteriaOption):
    """The condition of one table, made for each alias under which a statement reads it."""

    def __init__(self, mapper: Mapper[Any], role: Role) -> None:
        super().__init__(mapper.class_, true(), include_aliases=True, propagate_to_loaders=False)
        self._table, self._projects = name_of(mapper), _projects(mapper, role)

    def _resolve_where_criteria(self, ext_info: Any) -> ColumnElement[bool]:
        condition = _condition(ext_info.selectable, self._projects, self._table)
        return _deep_annotate(
            condition, {"for_loader_criteria": self}, detect_subquery_cols=True, ind_cols_on_fromclause=True
        )


@event.listens_for(Session, "do_orm_execute")
def limit_statement(state: ORMExecuteState) -> None:
    """Limit a statement of a limited scope to its projects."""
    if current().everything or not state.is_orm_statement:
        return
    role = Role.VIEWER if state.is_select else Role.EDITOR
    if state.is_insert and not state.parameters:
        # An INSERT from a SELECT reads rows that the caller may change.
        return
    state.statement = state.statement.options(_options[role])
    refreshed = getattr(state.load_options, "_refresh_state", None) if state.is_select else None
    if refreshed is not None:
        # It was visible when it was loaded.
        state.update_execution_options(refreshes=True)


@event.listens_for(Session, "before_flush")
def check_changes(session: Session, _context: UOWTransaction, _instances: object) -> None:
    """Raise MissingRight if a changed row is in a project in which the scope may not write."""
    if current().everything:
        return
    with acting_as(OWNER), session.no_autoflush:
        needed = _needed_roles(session)
    for project, role in sorted(needed.items(), key=lambda each: -1 if each[0] is None else each[0]):
        require(session, project, role)


def require(session: Session, project: int | None, role: Role) -> None:
    """Raise MissingRight unless the scope has at least a role in a project."""
    held = current().role(project)
    if held is None:
        raise MissingRight("You have no role in the project that this would change. Name one of your projects.")
    if held < role:
        with acting_as(OWNER):
            raise MissingRight(_describe_missing(session, project, role))


def may_change(session: Session, table: str, key: int) -> bool:
    """Return True if the scope may change a row that it sees."""
    scope = current()
    if scope.everything or "write" not in scope.scopes:
        return "write" in scope.scopes
    return projects_of(session, table, [key]) <= scope.projects_as(Role.EDITOR)


def check_role(
    read: Callable[[], AbstractContextManager[Session]], scope: Scope, role: Role | None, row: tuple[str, int] | None
) -> None:
    """Raise MissingRight if a limited scope lacks a role in the project of a row that it sees, or in all projects.

    None is the role of administrators of the installation. Whether the row exists is not checked: a hidden row is like
    one that does not exist.
    """
    if role is not None and row is None and scope.projects_as(role):
        return
    with acting_as(OWNER), read() as session:
        if role is None:
            people = ", ".join(_administrators(session, None))
            raise MissingRight(f"Only administrators of the installation may do this: {people}.")
        for project in projects_of(session, row[0], [row[1]]) if row is not None else ():
            held = scope.role(project)
            if held is not None and held < role:
                raise MissingRight(_describe_missing(session, project, role))
        if not scope.projects_as(role):
            people = ", ".join(_administrators(session, None))
            name = role.name.lower()
            raise MissingRight(f"You need the role {name} in a project for this. Who can give it to you: {people}.")


def _describe_missing(session: Session, project: int | None, role: Role) -> str:
    projects = Base.metadata.tables["projects"]
    name = session.scalar(select(projects.c.name).where(projects.c.id == project))
    people = ", ".join(_administrators(session, project))
    return f"You need the role {role.name.lower()} in the project {name} for this. Who can give it to you: {people}."


def _administrators(session: Session, project: int | None) -> Sequence[str]:
    """Return the names of people who administer a project, and of those who administer the installation."""
    given = select(ProjectRole.person_id).where(
        ProjectRole.project_id == project, ProjectRole.role >= Role.ADMINISTRATOR.value
    )
    may_give = or_(Person.is_administrator, Person.id.in_(given))
    query = select(Person.name).where(Person.disabled_at.is_(None), may_give).order_by(Person.is_administrator)
    return session.scalars(query.limit(MAX_NAMED_ADMINISTRATORS)).all()


def _needed_roles(session: Session) -> dict[int | None, Role]:
    """Return the role that the pending changes need, by project."""
    needed: dict[int | None, Role] = {}
    keys: dict[str, set[Any]] = {}
    for item in [*session.new, *session.deleted, *(each for each in session.dirty if session.is_modified(each))]:
        table = name_of(inspect(item).mapper)
        for name, values in _targets(item, PROJECT_OF[table]):
            if name is not None:
                keys.setdefault(name, set()).update(values)
                continue
            role = _role_of(table)
            for project in values:
                needed[project] = max(role, needed.get(project, Role.VIEWER))
    for table, values in keys.items():
        for project in projects_of(session, table, values):
            needed[project] = max(Role.EDITOR, needed.get(project, Role.VIEWER))
    return needed


def _role_of(table: str) -> Role:
    way = PROJECT_OF[table]
    return way.role if isinstance(way, Own) else Role.EDITOR


def _targets(item: Any, way: Any) -> Iterator[tuple[str | None, set[Any]]]:
    """Yield the tables and keys by which a changed row reaches its project, or None and the projects themselves."""
    match way:
        case Own(column):
            default = inspect(item).mapper.local_table.c[column].default
            yield None, _values(item, column) or {default.arg if default is not None else None}
        case Through(column, table):
            yield table, _values(item, column)
        case AnyOf(ways):
            for each in ways:
                if isinstance(each, Through) and (values := _values(item, each.column)):
                    yield each.table, values
                    return


def _values(item: Any, column: str) -> set[Any]:
    """Return the value of a column before and after the change."""
    state = inspect(item)
    name = state.mapper.get_property_by_column(state.mapper.local_table.c[column]).key
    history = state.attrs[name].history
    return {value for part in (history.added, history.unchanged, history.deleted) for value in part or ()} - {None}


def projects_of(session: Session, table: str, keys: Iterable[Any]) -> set[int]:
    """Return the projects of rows of a table, without limits."""
    way = PROJECT_OF[table]
    rows = Base.metadata.tables[table]
    values = {*keys}
    if not values:
        return set()
    with acting_as(OWNER):
        return _read_projects(session, way, rows, values)


def _read_projects(session: Session, way: Any, rows: Table, values: set[Any]) -> set[int]:
    # `connection` takes part in the transaction, and does not flush.
    connection = session.connection()
    matches = _key(rows).in_(values) if len(rows.primary_key) == 1 else false()
    if isinstance(way, Own):
        return {*connection.scalars(select(rows.c[way.column]).where(matches))}
    projects: set[int] = set()
    for each in (way,) if isinstance(way, Through) else way.ways if isinstance(way, AnyOf) else ():
        if isinstance(each, Through):
            found = connection.scalars(select(rows.c[each.column]).where(matches, rows.c[each.column].is_not(None)))
            projects |= projects_of(session, each.table, found)
    return projects
