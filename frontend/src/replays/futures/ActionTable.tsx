import { Badge, Table, Text, Title, VisuallyHidden } from "@mantine/core";
import type { ActionFutures, Challenge } from "@/api/types";
import { decimalsFor, formatDecimals, formatInterval, score } from "@/ui/format";
import { WideTable } from "@/ui/WideTable";
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
      <WideTable label="Table of actions" className={classes.actions}>
        <Table verticalSpacing={4} horizontalSpacing={6}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Action</Table.Th>
              <Table.Th ta="right">{hasValues ? "Q-value" : "Policy"}</Table.Th>
              <Table.Th ta="right">Mean</Table.Th>
              <Table.Th className={classes.interval} title={`Scale from ${formatInterval(domain)}`}>
                95 % interval
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {actions.map((action) => (
              <ActionRow
                key={action.name}
                action={action}
                domain={domain}
                taken={action.name === taken}
                better={action.name === better}
              />
            ))}
          </Table.Tbody>
        </Table>
      </WideTable>
      {challenge && (
        <Text size="sm" mt={4}>
          {describeChallenge(challenge)}
        </Text>
      )}
    </section>
  );
}

interface ActionRowProps {
  action: ActionFutures;
  domain: Domain;
  taken: boolean;
  better: boolean;
}

function ActionRow({ action, domain, taken, better }: ActionRowProps) {
  const { name, probability, action_value, mean } = action;
  return (
    <Table.Tr data-taken={taken || undefined}>
      <Table.Td>
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
      </Table.Td>
      <Table.Td ta="right">
        {probability === null ? score(action_value) : `${(probability * 100).toFixed(1)} %`}
      </Table.Td>
      <Table.Td ta="right">{formatDecimals(mean, decimalsFor(domain[1] - domain[0]))}</Table.Td>
      <Table.Td>
        <Interval action={action} domain={domain} />
      </Table.Td>
    </Table.Tr>
  );
}

function Interval({ action: { mean, interval }, domain }: Pick<ActionRowProps, "action" | "domain">) {
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
