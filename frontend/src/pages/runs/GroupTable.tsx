import { ActionIcon, Anchor, Group, NativeSelect, Text, Tooltip, UnstyledButton } from "@mantine/core";
import {
  IconArrowDown,
  IconArrowUp,
  IconChevronDown,
  IconChevronRight,
  IconScale,
  IconX,
} from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Fragment, type ReactNode, useState } from "react";
import { Link } from "react-router";
import { baselineGroupQuery, groupRunsQuery, runGroupsQuery } from "@/api/runs";
import type { ListedGroup, ListedRun } from "@/api/types";
import { exact, plural, score, short } from "@/ui/format";
import { Score, TimeAgo } from "@/ui/Quantity";
import { QueryError } from "@/ui/QueryError";
import { bestReturnMeaning, isState, lastReturnMeaning, STATE_NAMES } from "@/ui/states";
import { type GroupValue, groupDelta, isSameGroup } from "./baseline";
import { DeltaText, RunDelta } from "./BaselineDelta";
import choiceClasses from "./CurveChoice.module.css";
import { RunCell } from "./RunCell";
import classes from "./runs.module.css";
import { SparklineBatches, SparklineCell } from "./SparklineCell";
import { sortPlace } from "./sorting";
import { StateCell } from "./StateCell";
import { StickyTable } from "./StickyTable";
import { toFailuresQuery, toParams, type RunsView } from "./view";

/** Columns with their sort keys. The curve has none. */
const COLUMNS = [
  { title: "Group", sort: "label" },
  { title: "Runs", sort: "runs" },
  { title: "Return", sort: "return.mean" },
  { title: "Best return", sort: "best_return.mean" },
  { title: "Curve", sort: null },
  { title: "Newest", sort: "newest" },
] as const;
/** All orders of groups, with the statistics that no column has. */
const ORDERS = [
  { value: "label", label: "Group" },
  { value: "runs", label: "Runs" },
  { value: "newest", label: "Newest" },
  { value: "return.mean", label: "Return: mean" },
  { value: "return.std", label: "Return: standard deviation" },
  { value: "return.n", label: "Return: runs that have one" },
  { value: "best_return.mean", label: "Best return: mean" },
  { value: "best_return.std", label: "Best return: standard deviation" },
  { value: "best_return.n", label: "Best return: runs that have one" },
];
/** Indentation of each level in pixels. */
const INDENT = 24;

interface GroupTableProps {
  view: RunsView;
  project: string | null;
  /** The run that others are compared with. */
  baseline: ListedRun | null;
  onBaseline: (run: number | null) => void;
  onSort: (groupSort: string) => void;
}

/** Runs grouped by fields. A group opens into the groups of the next field, and at last into its runs. */
export function GroupTable(table: GroupTableProps) {
  const { view, baseline, onBaseline, onSort } = table;
  return (
    <div>
      <Group gap="4px 16px" mb={4}>
        <GroupOrder view={view} onSort={onSort} />
        {baseline && (
          <Group gap={4}>
            <Text size="sm" c="dimmed">
              Differences from the group of {baseline.name} #{baseline.id}
            </Text>
            <UnstyledButton className={choiceClasses.baseline} onClick={() => onBaseline(null)}>
              Clear baseline <IconX size={12} aria-hidden />
            </UnstyledButton>
          </Group>
        )}
      </Group>
      <StickyTable
        label="Groups of runs"
        className={classes.groups}
        columns={
          <colgroup>
            {COLUMNS.map(({ title }) => (
              <col key={title} />
            ))}
          </colgroup>
        }
        head={
          <tr role="row">
            {COLUMNS.map(({ title, sort }) => (
              <GroupHeader key={title} title={title} sort={sort} view={view} onSort={onSort} />
            ))}
          </tr>
        }
      >
        <tbody role="rowgroup">
          <Groups table={table} filter={view.filter} level={0} />
        </tbody>
      </StickyTable>
    </div>
  );
}

/** Choice of the order of groups. It has the direction of the last one. */
function GroupOrder({ view, onSort }: { view: RunsView; onSort: (groupSort: string) => void }) {
  const sign = view.groupSort.startsWith("-") ? "-" : "";
  const order = view.groupSort.replace(/^-/, "");
  const Arrow = sign ? IconArrowDown : IconArrowUp;
  return (
    <Group gap={4}>
      <NativeSelect
        size="xs"
        aria-label="Sort groups by"
        data={ORDERS}
        value={order}
        onChange={({ currentTarget }) => onSort(sign + currentTarget.value)}
      />
      <ActionIcon
        variant="default"
        size={30}
        aria-label={sign ? "Largest first" : "Smallest first"}
        onClick={() => onSort(sign ? order : `-${order}`)}
      >
        <Arrow size={14} aria-hidden />
      </ActionIcon>
    </Group>
  );
}

interface GroupHeaderProps {
  title: string;
  /** Null if groups cannot be sorted by the column. */
  sort: string | null;
  view: RunsView;
  onSort: (groupSort: string) => void;
}

/** Column header. A click sorts the groups, and a second one reverses them. */
function GroupHeader({ title, sort, view, onSort }: GroupHeaderProps) {
  if (sort === null) {
    return (
      <th role="columnheader" scope="col">
        {title}
      </th>
    );
  }
  const { direction } = sortPlace(view.groupSort, sort);
  const Arrow = direction === "ascending" ? IconArrowUp : IconArrowDown;
  return (
    <th role="columnheader" scope="col" aria-sort={direction}>
      <UnstyledButton
        className={classes.sort}
        title={sort.endsWith(".mean") ? "Sort by the mean of the group" : "Sort the groups"}
        onClick={() => onSort(direction === "descending" ? sort : `-${sort}`)}
      >
        {title}
        {direction !== "none" && <Arrow size={14} aria-hidden style={{ flex: "none" }} />}
      </UnstyledButton>
    </th>
  );
}

interface LevelProps {
  table: GroupTableProps;
  /** Filter of the runs at this place. */
  filter: string;
  /** Number of fields that the runs are already grouped by. */
  level: number;
}

/** The groups of one field, and what is inside the open ones. */
function Groups({ table, filter, level }: LevelProps) {
  const { view, project, baseline } = table;
  const [open, setOpen] = useState<readonly string[]>([]);
  const field = view.by[level] ?? "";
  const query = useQuery(
    runGroupsQuery({
      ...toFailuresQuery({ ...view, filter }, project),
      by: field,
      // The values of a field order its groups better than their labels: 2 is before 10.
      sort: view.groupSort.replace(/^(-?)label$/, (_, sign: string) => sign + field),
    }),
  );
  const fields = view.by.slice(0, level + 1).join(",");
  const baselineGroup = useQuery({
    ...baselineGroupQuery({ ...toFailuresQuery(view, project), by: fields }, baseline?.id ?? 0),
    enabled: baseline !== null,
  }).data;
  if (query.isError && !query.data) {
    return (
      <Wide>
        <QueryError error={query.error} retry={() => void query.refetch()} />
      </Wide>
    );
  }
  if (!query.data) return <Wide>Loading groups…</Wide>;
  const hidden = query.data.total - query.data.items.length;
  const Inside = level === view.by.length - 1 ? Runs : Groups;
  return (
    <>
      {query.data.items.map((group) => {
        const isOpen = open.includes(group.filter);
        return (
          <Fragment key={group.filter}>
            <GroupRow
              table={table}
              group={group}
              level={level}
              isOpen={isOpen}
              baselineGroup={baselineGroup}
              onToggle={() =>
                setOpen(isOpen ? open.filter((other) => other !== group.filter) : [...open, group.filter])
              }
            />
            {isOpen && <Inside table={table} filter={group.filter} level={level + 1} />}
          </Fragment>
        );
      })}
      {hidden > 0 && <Wide>{plural(hidden, "more group")}. Filter the runs to see them.</Wide>}
    </>
  );
}

interface GroupRowProps extends Pick<LevelProps, "table" | "level"> {
  group: ListedGroup;
  isOpen: boolean;
  /** Null if the baseline is in no group, undefined until that is known. */
  baselineGroup: ListedGroup | null | undefined;
  onToggle: () => void;
}

function GroupRow({ table, group, level, isOpen, baselineGroup, onToggle }: GroupRowProps) {
  const { view, baseline, onBaseline } = table;
  const listUrl = `/?${toParams({ ...view, filter: group.filter, by: [] }).toString()}`;
  const label = group.label || "Without a value";
  const isBaseline = Boolean(baseline && baselineGroup && isSameGroup(group, baselineGroup));
  const delta = (value: GroupValue) => {
    if (!baseline || baselineGroup === undefined || isBaseline) return null;
    const found = groupDelta(group, value, baseline, baselineGroup);
    return found && <DeltaText delta={found} to={baselineGroup ? baselineGroup.label : "the baseline"} />;
  };
  const Chevron = isOpen ? IconChevronDown : IconChevronRight;
  return (
    <tr role="row" style={{ height: 40 }}>
      <td role="cell" style={{ paddingLeft: 8 + INDENT * level }}>
        <div className={classes.run}>
          <ActionIcon
            variant="subtle"
            color="gray"
            size={24}
            aria-label={`${isOpen ? "Close" : "Open"} ${label}`}
            aria-expanded={isOpen}
            onClick={onToggle}
          >
            <Chevron size={16} />
          </ActionIcon>
          <Text size="sm" fw={600} truncate title={label}>
            {label}
          </Text>
          {isBaseline && (
            <Text span size="xs" c="dimmed" visibleFrom="sm">
              Baseline
            </Text>
          )}
          <Tooltip label={isBaseline ? "Clear baseline" : "Compare other groups with this one"}>
            <ActionIcon
              className={choiceClasses.scale}
              data-pinned={isBaseline || undefined}
              size={24}
              aria-label={isBaseline ? `Clear baseline ${label}` : `Use ${label} as baseline`}
              onClick={() => onBaseline(isBaseline ? null : (group.run_ids[0] ?? null))}
            >
              <IconScale size={16} />
            </ActionIcon>
          </Tooltip>
        </div>
      </td>
      <td role="cell">
        <Anchor component={Link} to={listUrl} size="sm" title={statesText(group)}>
          {short(group.runs, group.runs === 1 ? "run" : "runs")}
        </Anchor>
      </td>
      <td role="cell">
        {meanText(group, "return")}
        {delta("return")}
      </td>
      <td role="cell">
        {meanText(group, "best_return")}
        {delta("best_return")}
      </td>
      <td role="cell" />
      <td role="cell">
        <TimeAgo time={group.newest} />
      </td>
    </tr>
  );
}

/** The runs of a group. */
function Runs({ table: { view, project, baseline }, filter, level }: LevelProps) {
  const query = { ...toFailuresQuery({ ...view, filter }, project), sort: view.sort };
  const { data } = useQuery(groupRunsQuery(query));
  if (!data) return <Wide>Loading runs…</Wide>;
  return (
    <SparklineBatches runs={data.items}>
      {data.items.map((run) => (
        <RunRow key={run.id} run={run} baseline={baseline} level={level} />
      ))}
      {data.total > data.items.length && (
        <Wide>
          {plural(data.total - data.items.length, "more run")}. Press the number of runs of the group to list
          all.
        </Wide>
      )}
    </SparklineBatches>
  );
}

function RunRow({ run, baseline, level }: { run: ListedRun; baseline: ListedRun | null; level: number }) {
  const delta = (column: string) => baseline && <RunDelta run={run} baseline={baseline} column={column} />;
  return (
    <tr role="row" style={{ height: 48 }}>
      <td role="cell" style={{ paddingLeft: 8 + INDENT * level }}>
        <RunCell run={run} />
      </td>
      <td role="cell">
        <StateCell run={run} />
      </td>
      <td role="cell">
        <Score value={run.last_return} meaning={lastReturnMeaning(run)} />
        {delta("last_return")}
      </td>
      <td role="cell">
        <Score value={run.best_return} meaning={bestReturnMeaning(run)} />
        {delta("best_return")}
      </td>
      <td role="cell">
        <SparklineCell run={run} />
      </td>
      <td role="cell">
        <TimeAgo time={run.created_at} />
      </td>
    </tr>
  );
}

function Wide({ children }: { children: ReactNode }) {
  return (
    <tr role="row">
      <td role="cell" colSpan={COLUMNS.length} className={classes.dim} style={{ height: 40 }}>
        {children}
      </td>
    </tr>
  );
}

/** Return the mean and the standard deviation over runs, "18.2 (SD 1.1)", or only the mean of a single run. */
function meanText({ statistics }: ListedGroup, value: GroupValue): string {
  const found = statistics[value];
  if (found?.mean == null) return "–";
  return found.std == null ? score(found.mean) : `${score(found.mean)} (SD ${score(found.std)})`;
}

function statesText({ states }: ListedGroup): string {
  return Object.entries(states)
    .map(([state, count]) => `${exact(count)} ${(isState(state) ? STATE_NAMES[state] : state).toLowerCase()}`)
    .join(", ");
}
