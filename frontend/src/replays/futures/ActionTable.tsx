import { Badge, Text, Title, VisuallyHidden } from "@mantine/core";
import type { ActionFutures, Challenge } from "@/api/types";
import { DataTable } from "@/ui/DataTable";
import { decimalsFor, formatDecimals, formatInterval, score } from "@/ui/format";
import { type Domain, domainOf, placeOn } from "../scale";
import thoughts from "../thoughts.module.css";
import classes from "./futures.module.css";
import { describeChallenge, findBetter } from "./words";

interface ActionTableProps {
  actions: readonly ActionFutures[];
  /** Test of the action with the best futures. Null for futures of earlier versions. */
  challenge: Challenge | null;
  /** Name of the action that the agent took. */
  taken: string | undefined;
}

/** Futures of each action forced first, next to the policy's probability or the Q-value. */
export function ActionTable({ actions, challenge, taken }: ActionTableProps) {
  const hasValues = actions.some(({ action_value }) => action_value !== null);
  const better = findBetter(challenge);
  const domain = domainOf(actions.flatMap(({ interval, mean }) => [...(interval ?? []), mean ?? NaN]));
  return (
    <section aria-label="Each action first">
      <Title order={3} size="sm" mb={4}>
        Each action first
      </Title>
      <DataTable
        label="Table of actions"
        frameClass={classes.actions}
        verticalSpacing={4}
        horizontalSpacing={6}
        rows={actions}
        rowKey={({ name }) => name}
        rowProps={({ name }) => ({ "data-taken": name === taken || undefined })}
        columns={[
          {
            title: "Action",
            cell: ({ name }) => <ActionName name={name} taken={name === taken} better={name === better} />,
          },
          {
            title: hasValues ? "Q-value" : "Policy",
            numeric: true,
            cell: ({ probability, action_value }) =>
              probability === null ? score(action_value) : `${(probability * 100).toFixed(1)} %`,
          },
          {
            title: "Mean",
            numeric: true,
            cell: ({ mean }) => formatDecimals(mean, decimalsFor(domain[1] - domain[0])),
          },
          {
            title: "95 % interval",
            help: `Scale from ${formatInterval(domain)}`,
            headProps: { className: classes.interval },
            cell: (action) => <Interval action={action} domain={domain} />,
          },
        ]}
      />
      {challenge && (
        <Text size="sm" mt={4}>
          {describeChallenge(challenge)}
        </Text>
      )}
    </section>
  );
}

function ActionName({ name, taken, better }: { name: string; taken: boolean; better: boolean }) {
  return (
    <>
      <span className={thoughts.mark} aria-hidden>
        {taken ? "▸" : ""}
      </span>
      {name}
      {taken && <VisuallyHidden>, taken</VisuallyHidden>}
      {better && (
        <Badge
          size="xs"
          ml={4}
          tt="none"
          title="Shown by fresh pairs of futures; wrong in at most 5 % of tests"
        >
          better
        </Badge>
      )}
    </>
  );
}

interface IntervalProps {
  action: ActionFutures;
  domain: Domain;
}

function Interval({ action: { mean, interval }, domain }: IntervalProps) {
  if (!interval || mean === null) return "–";
  const text = formatInterval(interval, decimalsFor(domain[1] - domain[0]));
  const [left, right] = interval.map((end) => placeOn(domain, end)) as [number, number];
  return (
    <div className={thoughts.track} title={text}>
      <VisuallyHidden>{text}</VisuallyHidden>
      <span
        className={thoughts.bar}
        style={{ left: `${left * 100}%`, width: `max(2px, ${(right - left) * 100}%)` }}
      />
      <span className={thoughts.mean} style={{ left: `${placeOn(domain, mean) * 100}%` }} />
    </div>
  );
}
