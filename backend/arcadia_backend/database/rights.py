"""The rule of rights: who acts sees and changes only rows of their projects.

PROJECT_OF says for each table how a row reaches its project. Each query of a limited scope gets the matching condition.
Each flush, and each INSERT, UPDATE and DELETE of the ORM, is checked for the rows that it changes and for the projects
that it puts them into. `limits.py` refuses all other statements. Routes do not repeat the rule.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any, cast

from sqlalchemy import (
    BigInteger,
    BindParameter,
    ClauseElement,
    ColumnElement,
    FromClause,
    Insert,
    Select,
    Table,
    and_,
    bindparam,
    event,
    false,
    insert,
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

from arcadia_backend.database.ownership import INSTALLATION, LIMITED, PROJECT_OF, AnyOf, BulkRuns, Own, Through, UsedBy
from arcadia_backend.database.scope import BACKEND, Role, Scope, acting_as, current
from arcadia_backend.database.tables import Base, Person, ProjectRole
from arcadia_backend.errors import Problem

# Names of bound parameters with the projects of the scope, and of the aliases of tables in conditions.
MARKER = "rights_"
# Prefix of the aliases of `beside_run`.
BESIDE_RUN = "beside_run_"
MAX_NAMED_ADMINISTRATORS = 5
# Execution option with the table of a checked INSERT, UPDATE or DELETE.
CHECKED = "rights_checked"
_UNDECIDED = "rights_undecided"


class MissingRight(Problem):
    """The caller may see the object, or is known, but lacks the right to do this."""

    status = 403
    kind = "missing-right"
    title = "Missing right"


class UnlimitedQueryError(RuntimeError):
    """A statement of a limited scope that cannot be limited or checked. It is an error of this program."""


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
_options = {role: RightsOption(role) for role in Role}


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
    """Limit a statement of a limited scope to its projects. Check the projects into which it puts rows."""
    if current().everything or not state.is_orm_statement:
        return
    if state.is_select:
        state.statement = state.statement.options(_options[Role.VIEWER])
        if getattr(state.load_options, "_refresh_state", None) is not None:
            # It was visible when it was loaded.
            state.update_execution_options(refreshes=True)
        return
    mapper = cast("Mapper[Any]", state.bind_mapper)
    table = name_of(mapper)
    if table in LIMITED and isinstance(state.statement, Insert) and state.statement.select is not None:
        state.statement = _limited_copy(state.statement, mapper)
    elif table in LIMITED and not state.is_delete:
        _check_values(state, mapper)
    if not state.is_insert:
        state.statement = state.statement.options(_options[_role_of(table)])
    state.update_execution_options(**{CHECKED: table})


def _limited_copy(statement: Insert, mapper: Mapper[Any]) -> Insert:
    """Return an INSERT from a SELECT that adds only rows of projects in which the scope may write.

    SQLAlchemy adds no conditions to the SELECT. It has `may_edit`, or `limits.py` refuses it.
    """
    table = name_of(mapper)
    way, projects = PROJECT_OF[table], _projects(mapper, _role_of(table))
    names = cast("list[str]", statement._select_names)
    rows = cast("Select[Any]", statement.select).subquery()
    columns = dict(zip(names, rows.c, strict=True))
    condition: ColumnElement[bool]
    if isinstance(way, Own) and way.column in columns:
        condition = columns[way.column].in_(projects)
    elif isinstance(way, Through) and way.column in columns:
        parent = _alias(way.table, 0)
        condition = _exists(parent, _key(parent) == columns[way.column], _condition(parent, projects, way.table, 1))
    else:
        raise UnlimitedQueryError(f"An INSERT from a SELECT into {table} names no project that can be checked.")
    return insert(mapper.class_).from_select(names, select(*rows.c).where(condition))


@event.listens_for(Session, "before_flush")
def check_changes(session: Session, _context: UOWTransaction, _instances: object) -> None:
    """Raise MissingRight if a changed row is in a project in which the scope may not write."""
    if current().everything:
        return
    with acting_as(BACKEND), session.no_autoflush:
        changed = [*session.new, *session.deleted, *(each for each in session.dirty if session.is_modified(each))]
        rows = [(item, *_row_of(item)) for item in changed]
    # A new part of another new row gets its key within the flush.
    late = {id(item): item for item, table, values in rows if item in session.new and _may_get_key(table, values)}
    session.info[_UNDECIDED] = [*late.values()]
    _check_rows(session, [(table, values) for item, table, values in rows if id(item) not in late])


@event.listens_for(Session, "after_flush")
def check_keys(session: Session, _context: UOWTransaction) -> None:
    """Check the new rows that had no key before the flush. An error undoes the flush."""
    if added := session.info.pop(_UNDECIDED, []):
        _check_rows(session, [_row_of(item) for item in added])


def _may_get_key(table: str, values: Mapping[str, set[Any]]) -> bool:
    return not any(values.values()) and any(parent is not None for parent, _column in _deciding(PROJECT_OF[table]))


def _row_of(item: Any) -> tuple[str, dict[str, set[Any]]]:
    """Return the table of a changed row, and the values that decide about its project before and after the change."""
    table = name_of(inspect(item).mapper)
    way = PROJECT_OF[table]
    columns = ["id", "person_id"] if isinstance(way, BulkRuns) else [column for _parent, column in _deciding(way)]
    return table, {column: _values(item, column) for column in columns}


def _check_values(state: ORMExecuteState, mapper: Mapper[Any]) -> None:
    """Raise MissingRight if a statement puts rows into a project in which the scope may not write."""
    statement: Any = state.statement
    table = cast("Table", mapper.local_table)
    given = [state.parameters] if isinstance(state.parameters, Mapping) else [*(state.parameters or ())]
    if state.is_insert:
        given = [*given, *(row for rows in statement._multi_values for row in rows)]
    elif given:
        raise UnlimitedQueryError(
            f"Change rows of {table.name} one by one: an UPDATE by key or in order has no limits."
        )
    rows = []
    for row in given or [{}]:
        named = {getattr(name, "key", name): value for name, value in {**(statement._values or {}), **row}.items()}
        values: dict[str, set[Any]] = {}
        for _parent, column in _deciding(PROJECT_OF[table.name]):
            names = {column, mapper.get_property_by_column(table.c[column]).key}
            found = {_plain_value(named[name]) for name in names & named.keys()}
            if found or state.is_insert:
                values[column] = found or _default(table.c[column])
        # An UPDATE that moves nothing has the condition of its rows alone.
        if values or state.is_insert:
            rows.append((table.name, values))
    _check_rows(state.session, rows)


def _plain_value(value: Any) -> Any:
    plain = value.effective_value if isinstance(value, BindParameter) else value
    if isinstance(plain, ClauseElement):
        raise UnlimitedQueryError(f"A project cannot be checked that the database computes: {plain}")
    return plain


def require(session: Session, project: int | None, role: Role) -> None:
    """Raise MissingRight unless the scope has at least a role in a project."""
    held = current().role(project)
    if held is None:
        raise MissingRight("You have no role in the project that this would change. Name one of your projects.")
    if held < role:
        with acting_as(BACKEND):
            raise MissingRight(_describe_missing(session, project, role))


def may_change(session: Session, table: str, key: int) -> bool:
    """Return True if the scope may change a row that it sees."""
    scope = current()
    if scope.everything or "write" not in scope.scopes:
        return "write" in scope.scopes
    projects = projects_of(session, table, [key])
    return bool(projects) and projects <= scope.projects_as(Role.EDITOR)


def check_role(
    read: Callable[[], AbstractContextManager[Session]], scope: Scope, role: Role | None, row: tuple[str, int] | None
) -> None:
    """Raise MissingRight if a limited scope lacks a role in the project of a row that it sees, or in all projects.

    None is the role of administrators of the installation. Whether the row exists is not checked: a hidden row is like
    one that does not exist.
    """
    if role is not None and row is None and scope.projects_as(role):
        return
    with acting_as(BACKEND), read() as session:
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


def _check_rows(session: Session, rows: Iterable[tuple[str, Mapping[str, set[Any]]]]) -> None:
    """Raise MissingRight if the scope may not write in the projects of changed rows.

    A row is its table, and the values of the columns that decide about its project before and after the change.
    """
    needed: dict[int, Role] = {}
    keys: dict[str, set[Any]] = {}
    for table, values in rows:
        for parent, found in _targets(table, values):
            if parent is not None:
                keys.setdefault(parent, set()).update(found)
            for project in found if parent is None else ():
                needed[project] = max(_role_of(table), needed.get(project, Role.VIEWER))
    for table, found in keys.items():
        for project in projects_of(session, table, found):
            needed[project] = max(Role.EDITOR, needed.get(project, Role.VIEWER))
    for project, role in sorted(needed.items()):
        require(session, project, role)


def _targets(table: str, values: Mapping[str, set[Any]]) -> Iterator[tuple[str | None, set[Any]]]:
    """Yield the tables and keys by which a changed row reaches its projects, or None and the projects themselves."""
    way = PROJECT_OF[table]
    if isinstance(way, BulkRuns) and values:
        # Who started an action may also change it.
        yield table, set() if values["person_id"] == {current().person_id} else values["id"]
        return
    targets = [(parent, values.get(column, set()) - {None}) for parent, column in _deciding(way)]
    if way is not INSTALLATION and not any(found for _parent, found in targets):
        if isinstance(way, Own):
            raise MissingRight("Only administrators of the installation may do this.")
        raise UnlimitedQueryError(f"A changed row of {table} names no project that can be checked.")
    yield from targets


def _role_of(table: str) -> Role:
    way = PROJECT_OF[table]
    return way.role if isinstance(way, Own) else Role.EDITOR


def _deciding(way: Any) -> list[tuple[str | None, str]]:
    """Return the columns that decide about the project of a row, with the tables of their keys. None: it is the id."""
    match way:
        case Own(column):
            return [(None, column)]
        case Through(column, table):
            return [(table, column)]
        case AnyOf(ways):
            return [(each.table, each.column) for each in ways if isinstance(each, Through)]
    return []


def _values(item: Any, column: str) -> set[Any]:
    """Return the value of a column before and after the change. A new row has the default."""
    state = inspect(item)
    stored = state.mapper.local_table.c[column]
    attribute = state.attrs[state.mapper.get_property_by_column(stored).key]
    history = attribute.load_history() if state.persistent else attribute.history
    values = {value for part in (history.added, history.unchanged, history.deleted) for value in part or ()} - {None}
    return values or _default(stored)


def _default(column: Any) -> set[Any]:
    return {column.default.arg} if column.default is not None else set()


def projects_of(session: Session, table: str, keys: Iterable[Any]) -> set[int]:
    """Return the projects of rows of a table, without limits."""
    way = PROJECT_OF[table]
    rows = Base.metadata.tables[table]
    values = {*keys}
    if not values:
        return set()
    with acting_as(BACKEND):
        # `connection` takes part in the transaction, and does not flush.
        connection = session.connection()
        matches = _key(rows).in_(values) if len(rows.primary_key) == 1 else false()
        if isinstance(way, Own):
            return {*connection.scalars(select(rows.c[way.column]).where(matches))}
        if isinstance(way, BulkRuns):
            listed, run = Base.metadata.tables["bulk_action_runs"], Base.metadata.tables["runs"]
            of_runs = select(run.c.project_id).join(listed, listed.c.run_id == run.c.id).distinct()
            return {*connection.scalars(of_runs.where(listed.c.bulk_action_id.in_(values)))}
        projects: set[int] = set()
        for each in (way,) if isinstance(way, Through) else way.ways if isinstance(way, AnyOf) else ():
            if isinstance(each, Through):
                found = connection.scalars(select(rows.c[each.column]).where(matches, rows.c[each.column].is_not(None)))
                projects |= projects_of(session, each.table, found)
        return projects
