import { ActionIcon, Anchor, Text } from "@mantine/core";
import { IconChevronDown, IconChevronRight } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Fragment, type ReactNode, useState } from "react";
import { Link } from "react-router";
import { groupRunsQuery, runGroupsQuery } from "@/api/runs";
import type { ListedGroup, ListedRun } from "@/api/types";
import { score, short } from "@/ui/format";
import { Score, TimeAgo } from "@/ui/Quantity";
import { QueryError } from "@/ui/QueryError";
import { isState, STATE_NAMES } from "@/ui/states";
import { WideTable } from "@/ui/WideTable";
import { RunCell } from "./RunCell";
import classes from "./runs.module.css";
import { SparklineBatches, SparklineCell } from "./SparklineCell";
import { StateCell } from "./StateCell";
import { toFailuresQuery, toParams, type RunsView } from "./view";

const COLUMNS = ["Group", "Runs", "Return", "Best return", "Curve", "Newest"] as const;
/** Indentation of each level in pixels. */
const INDENT = 24;

interface GroupTableProps {
  view: RunsView;
  project: string | null;
}

/** Runs grouped by fields. A group opens into the groups of the next field, and at last into its runs. */
export function GroupTable({ view, project }: GroupTableProps) {
  return (
    <WideTable label="Groups of runs" className={classes.tableFrame}>
      <table className={`${classes.table} ${classes.groups}`}>
        <thead>
          <tr>
            {COLUMNS.map((title) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <Groups view={view} project={project} by={view.by} level={0} />
        </tbody>
      </table>
    </WideTable>
  );
}

interface LevelProps extends GroupTableProps {
  /** Fields that are left to group by. */
  by: readonly string[];
  level: number;
}

function Groups({ view, project, by, level }: LevelProps) {
  const [open, setOpen] = useState<readonly string[]>([]);
  const [field = "", ...others] = by;
  const query = useQuery(runGroupsQuery({ ...toFailuresQuery(view, project), by: field }));
  if (query.isError && !query.data) {
    return (
      <Wide>
        <QueryError error={query.error} retry={() => void query.refetch()} />
      </Wide>
    );
  }
  if (!query.data) return <Wide>Loading groups…</Wide>;
  const hidden = query.data.total - query.data.items.length;
  return (
    <>
      {query.data.items.map((group) => {
        const isOpen = open.includes(group.filter);
        const inside = { ...view, filter: group.filter };
        return (
          <Fragment key={group.filter}>
            <GroupRow
              group={group}
              level={level}
              isOpen={isOpen}
              address={`/?${toParams({ ...inside, by: [] }).toString()}`}
              onToggle={() =>
                setOpen(isOpen ? open.filter((other) => other !== group.filter) : [...open, group.filter])
              }
            />
            {isOpen && others.length > 0 && (
              <Groups view={inside} project={project} by={others} level={level + 1} />
            )}
            {isOpen && others.length === 0 && <Runs view={inside} project={project} level={level + 1} />}
          </Fragment>
        );
      })}
      {hidden > 0 && <Wide>{hidden} more groups. Filter the runs to see them.</Wide>}
    </>
  );
}

interface GroupRowProps {
  group: ListedGroup;
  level: number;
  isOpen: boolean;
  /** The list of only these runs. */
  address: string;
  onToggle: () => void;
}

function GroupRow({ group, level, isOpen, address, onToggle }: GroupRowProps) {
  const label = group.label || "Without a value";
  const Chevron = isOpen ? IconChevronDown : IconChevronRight;
  return (
    <tr style={{ height: 40 }}>
      <td style={{ paddingLeft: 8 + INDENT * level }}>
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
        </div>
      </td>
      <td>
        <Anchor component={Link} to={address} size="sm" title={statesText(group)}>
          {short(group.runs, group.runs === 1 ? "run" : "runs")}
        </Anchor>
      </td>
      <td>{meanText(group, "return")}</td>
      <td>{meanText(group, "best_return")}</td>
      <td />
      <td>
        <TimeAgo time={group.newest} />
      </td>
    </tr>
  );
}

function Runs({ view, project, level }: GroupTableProps & { level: number }) {
  const { data } = useQuery(groupRunsQuery({ ...toFailuresQuery(view, project), sort: view.sort }));
  if (!data) return <Wide>Loading runs…</Wide>;
  return (
    <SparklineBatches runs={data.items}>
      {data.items.map((run) => (
        <RunRow key={run.id} run={run} level={level} />
      ))}
      {data.total > data.items.length && (
        <Wide>
          {data.total - data.items.length} more runs. Press the number of runs of the group to list all.
        </Wide>
      )}
    </SparklineBatches>
  );
}

function RunRow({ run, level }: { run: ListedRun; level: number }) {
  return (
    <tr style={{ height: 48 }}>
      <td style={{ paddingLeft: 8 + INDENT * level }}>
        <RunCell run={run} />
      </td>
      <td>
        <StateCell run={run} />
      </td>
      <td>
        <Score value={run.last_return} meaning="Mean of the last 100 episodes" />
      </td>
      <td>
        <Score value={run.best_return} meaning="Best mean of 100 episodes" />
      </td>
      <td>
        <SparklineCell run={run} />
      </td>
      <td>
        <TimeAgo time={run.created_at} />
      </td>
    </tr>
  );
}

function Wide({ children }: { children: ReactNode }) {
  return (
    <tr>
      <td colSpan={COLUMNS.length} className={classes.dim} style={{ height: 40 }}>
        {children}
      </td>
    </tr>
  );
}

/** Return "18.2 ± 1.1", or only the mean of a single run. */
function meanText({ statistics }: ListedGroup, value: string): string {
  const found = statistics[value];
  if (found?.mean == null) return "–";
  return found.std == null ? score(found.mean) : `${score(found.mean)} ± ${score(found.std)}`;
}

function statesText({ states }: ListedGroup): string {
  return Object.entries(states)
    .map(([state, count]) => `${count} ${(isState(state) ? STATE_NAMES[state] : state).toLowerCase()}`)
    .join(", ");
}
