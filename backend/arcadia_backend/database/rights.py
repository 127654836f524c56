"""The rule of rights: who acts sees and changes only rows of their projects.

PROJECT_OF says for each table how a row reaches its project. Each query of a limited scope gets the matching condition,
and each flush checks that the changed rows are in projects in which the scope may write. Routes do not repeat the rule.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    BigInteger,
    BindParameter,
    ColumnElement,
    FromClause,
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
from sqlalchemy.orm import LoaderCriteriaOption, Mapper, ORMExecuteState, Session, UOWTransaction
from sqlalchemy.orm.interfaces import CriteriaOption
from sqlalchemy.sql.util import _deep_annotate
from sqlalchemy.sql.visitors import InternalTraversal

from arcadia_backend.database.scope import OWNER, Role, acting_as, current
from arcadia_backend.database.tables import Base, Person, ProjectRole
from arcadia_backend.errors import Problem

# Names of bound parameters with the projects of the scope, and of the aliases of tables in conditions.
MARKER = "rights_"
MAX_NAMED_ADMINISTRATORS = 5


class MissingRight(Problem):
    """The caller may see the object, or is known, but lacks the right to do this."""

    status = 403
    kind = "missing-right"
    title = "Missing right"


class UnlimitedQueryError(RuntimeError):
    """A query of a limited scope that lacks the condition of a table. It is an error of this program."""


@dataclass(frozen=True)
class Own:
    """A column with the id of the project."""

    column: str
    # The role that changes a row.
    role: Role = Role.EDITOR


@dataclass(frozen=True)
class Through:
    """A column with the primary key of a row of another table, which has the same project."""

    column: str
    table: str
    # Rows without it are open to everybody who has signed in, such as games that people play.
    open_without: bool = False
    # Queries join the table from outside by a plain join, which has rows without a partner.
    outer: bool = False


@dataclass(frozen=True)
class UsedBy:
    """Rows that a row of another table uses: it has the project of each of those."""

    table: str
    column: str
    key: str


@dataclass(frozen=True)
class AnyOf:
    """Several ways. The first one whose column is not empty decides about a change."""

    ways: tuple[Through | UsedBy, ...]


@dataclass(frozen=True)
class BulkRuns:
    """A bulk action, which is visible with all of its runs."""


# Belongs to no project. The doors in backend/arcadia_backend/web/doors.py decide who reads and changes it.
INSTALLATION = None

OF_RUN = Through("run_id", "runs")
OF_STUDY = Through("study_id", "studies")
OF_REPLAY = Through("replay_id", "replays")

PROJECT_OF: Mapping[str, Own | Through | AnyOf | BulkRuns | None] = {
    "projects": Own("id", Role.ADMINISTRATOR),
    "runs": Own("project_id"),
    "studies": Own("project_id"),
    "reports": Own("project_id"),
    "views": Own("project_id"),
    "boards": Own("project_id"),
    "artifacts": Own("project_id"),
    "moved_panels": Own("into_id"),
    # Of runs
    "attempts": OF_RUN,
    "log_lines": OF_RUN,
    "run_tags": Through("run_id", "runs", outer=True),
    "run_settings": Through("run_id", "runs", outer=True),
    "run_changes": OF_RUN,
    "measurements": OF_RUN,
    "checkpoints": OF_RUN,
    "event_digests": AnyOf((OF_RUN, Through("job_id", "jobs"))),
    "alias_changes": OF_RUN,
    "provenance_documents": AnyOf(
        (UsedBy("attempts", "packages_sha256", "sha256"), UsedBy("attempts", "diff_sha256", "sha256"))
    ),
    "bulk_actions": BulkRuns(),
    "bulk_action_runs": OF_RUN,
    "metric_series": Through("run_id", "runs", outer=True),
    "metric_chunks": Through("series_id", "metric_series"),
    "metric_pages": Through("series_id", "metric_series"),
    "metric_clocks": OF_RUN,
    "media": OF_RUN,
    "files": AnyOf((OF_RUN, Through("job_id", "jobs"), UsedBy("artifact_entries", "file_id", "id"))),
    "archive_imports": OF_RUN,
    # Of jobs and what they make
    "jobs": Through("run_id", "runs", open_without=True),
    "evaluations": OF_RUN,
    "evaluation_episodes": Through("evaluation_id", "evaluations"),
    "calibrations": OF_RUN,
    "replays": OF_RUN,
    "futures": OF_REPLAY,
    "reviews": OF_REPLAY,
    "kept_games": Through("replay_id", "replays", open_without=True),
    # Of artifacts
    "artifact_versions": Through("artifact_id", "artifacts"),
    "artifact_aliases": Through("artifact_id", "artifacts"),
    "artifact_entries": Through("version_id", "artifact_versions"),
    "artifact_links": OF_RUN,
    # Of studies and reports
    "study_points": OF_STUDY,
    "study_runs": Through("study_id", "studies", outer=True),
    "paper_studies": OF_STUDY,
    "study_imports": OF_STUDY,
    "report_imports": Through("report_id", "reports"),
    # Alerts without a run and a study are about the installation.
    "alerts": AnyOf((OF_RUN, OF_STUDY)),
    "alert_deliveries": Through("alert_id", "alerts"),
    # Of the installation
    **dict.fromkeys(
        "alert_rules score_rules alert_channels start_sets installation idempotency_keys workers people "
        "person_identities person_groups group_members project_roles access_tokens sign_in_sessions one_time_links "
        "audit_log".split(),
        INSTALLATION,
    ),
}
LIMITED = frozenset(table for table, way in PROJECT_OF.items() if way is not INSTALLATION)


def may_edit(model: type[Base]) -> ColumnElement[bool]:
    """Return the condition for rows of a model that the scope may change, for queries that list what to change."""
    if current().everything:
        return true()
    table = inspect(model).local_table
    return _condition(table, _projects(model, Role.EDITOR), table.name)


def _projects(model: type[Base], role: Role) -> BindParameter[Any]:
    """Return a parameter with the projects of the scope that acts when the query is executed."""
    name = f"{MARKER}{inspect(model).local_table.name}"
    values = lambda: sorted(current().projects_as(role))  # noqa: E731 - each parameter has its own
    return bindparam(name, callable_=values, expanding=True, type_=BigInteger())


def _condition(table: FromClause, projects: BindParameter[Any], name: str, depth: int = 0) -> ColumnElement[bool]:
    """Return the condition for rows of a table, or of an alias of it, in some projects."""
    match way := PROJECT_OF[name]:
        case Own(column):
            return table.c[column].in_(projects)
        case Through():
            condition = _through(table, way, projects, depth)
            if way.open_without:
                return or_(table.c[way.column].is_(None), condition)
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
    """Return the condition for bulk actions that have runs here, and none that is hidden."""
    listed, run = _alias("bulk_action_runs", 0), _alias("runs", 1)
    same = (listed.c.bulk_action_id == table.c.id, run.c.id == listed.c.run_id)
    # The same list of projects twice: once for the runs that are visible, and once for all others.
    of_projects = run.c.project_id
    both = listed.join(run, same[1])
    seen = select(literal_column("1")).select_from(both).where(same[0], of_projects.in_(projects))
    hidden = select(literal_column("1")).select_from(both).where(same[0], of_projects.not_in(projects))
    return and_(seen.correlate_except(listed, run).exists(), ~hidden.correlate_except(listed, run).exists())


def _exists(table: FromClause, *conditions: ColumnElement[bool]) -> ColumnElement[bool]:
    # A correlated EXISTS is a look-up by key for each row. An IN would read all runs of the projects first.
    query = select(literal_column("1")).select_from(table).where(*conditions)
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
    _cache_key_traversal = (("role", InternalTraversal.dp_string),)
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
    tables = {mapper.local_table.name for mapper in models if mapper.local_table is not None}
    if tables != PROJECT_OF.keys():
        wrong = ", ".join(sorted(tables ^ PROJECT_OF.keys()))
        raise ValueError(f"PROJECT_OF in database/rights.py must name each table once. It differs in: {wrong}")
    for role in _options:
        _criteria[role.name] = [TableCriterion(mapper, role) for mapper in models if mapper.local_table.name in LIMITED]


class TableCriterion(LoaderCriteriaOption):
    """The condition of one table, made for each alias under which a statement reads it."""

    def __init__(self, mapper: Mapper[Any], role: Role) -> None:
        super().__init__(mapper.class_, true(), include_aliases=True, propagate_to_loaders=False)
        self._table, self._projects = mapper.local_table.name, _projects(mapper.class_, role)

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


def _describe_missing(session: Session, project: int | None, role: Role) -> str:
    projects = Base.metadata.tables["projects"]
    name = session.scalar(select(projects.c.name).where(projects.c.id == project))
    given = select(ProjectRole.person_id).where(
        ProjectRole.project_id == project, ProjectRole.role >= Role.ADMINISTRATOR.value
    )
    may_give = or_(Person.is_administrator, Person.id.in_(given))
    query = select(Person.name).where(Person.disabled_at.is_(None), may_give).order_by(Person.is_administrator)
    people = session.scalars(query.limit(MAX_NAMED_ADMINISTRATORS)).all()
    return (
        f"You need the role {role.name.lower()} in the project {name} for this. "
        f"An administrator can give it to you: {', '.join(people)}."
    )


def _needed_roles(session: Session) -> dict[int | None, Role]:
    """Return the role that the pending changes need, by project."""
    needed: dict[int | None, Role] = {}
    keys: dict[str, set[Any]] = {}
    for item in [*session.new, *session.deleted, *(each for each in session.dirty if session.is_modified(each))]:
        table = inspect(item).mapper.local_table.name
        for name, values in _targets(item, PROJECT_OF[table]):
            if name is not None:
                keys.setdefault(name, set()).update(values)
                continue
            role = _role_of(table)
            for project in values:
                needed[project] = max(role, needed.get(project, Role.VIEWER))
    for table, values in keys.items():
        for project in _projects_of_keys(session, table, values):
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


def _projects_of_keys(session: Session, table: str, keys: Iterable[Any]) -> set[int]:
    """Return the projects of rows of a table. Rows that are open to everybody have none."""
    way = PROJECT_OF[table]
    rows = Base.metadata.tables[table]
    values = {*keys}
    if not values:
        return set()
    # `connection` takes part in the transaction, and does not flush.
    connection = session.connection()
    matches = _key(rows).in_(values) if len(rows.primary_key) == 1 else false()
    if isinstance(way, Own):
        return {*connection.scalars(select(rows.c[way.column]).where(matches))}
    projects: set[int] = set()
    for each in (way,) if isinstance(way, Through) else way.ways if isinstance(way, AnyOf) else ():
        if isinstance(each, Through):
            found = connection.scalars(select(rows.c[each.column]).where(matches, rows.c[each.column].is_not(None)))
            projects |= _projects_of_keys(session, each.table, found)
    return projects
