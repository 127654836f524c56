import { Text, VisuallyHidden } from "@mantine/core";
import { type ReactNode, useMemo } from "react";
import { score } from "@/ui/format";
import { type Domain, domainOf, placeOn } from "./scale";
import classes from "./thoughts.module.css";
import type { Thoughts } from "./track";

/** The action data of a track or a live game. */
export type Bars = Pick<Thoughts, "numbers" | "action"> & {
  head: Pick<Thoughts["head"], "numbers_kind" | "action_names">;
};

interface ActionBarsProps {
  thoughts: Bars;
  decision: number;
}

const TITLES = {
  policy: "Probability of each action",
  values: "Q-value of each action",
  gaussian: "Each action's mean and σ",
};

/** The agent's probability or value of each action at a decision, and the action it took. */
export function ActionBars({ thoughts, decision }: ActionBarsProps) {
  const { numbers_kind, action_names } = thoughts.head;
  const title = TITLES[numbers_kind];
  const Row = { policy: Probability, values: ActionValue, gaussian: Spread }[numbers_kind];
  const domain = useMemo(() => scaleOf(thoughts), [thoughts]);
  return (
    <section aria-label={title}>
      <Text size="xs" c="dimmed" mb={4}>
        {title}
        {numbers_kind !== "policy" && `, on a scale from ${score(domain[0])} to ${score(domain[1])}`}
      </Text>
      <ul className={classes.bars} data-many={action_names.length > 9 || undefined}>
        {action_names.map((name, action) => (
          <Row
            key={name}
            thoughts={thoughts}
            decision={decision}
            domain={domain}
            name={name}
            action={action}
          />
        ))}
      </ul>
    </section>
  );
}

/** Return one scale for all actions and decisions, so that bars are comparable over time. */
function scaleOf({ head, numbers, action }: Bars): Domain {
  if (head.numbers_kind === "policy") return [0, 1];
  if (head.numbers_kind === "values") return domainOf(numbers.flat());
  const spreads = numbers.flatMap((row) => {
    const means = row.slice(0, head.action_names.length);
    return means.flatMap((mean, action) => {
      const sigma = sigmaOf(row, means.length, action);
      return [mean - sigma, mean + sigma];
    });
  });
  return domainOf([...spreads, ...action.flat()]);
}

/** Return σ of an action. After the means, a row has one variance for all actions or one for each. */
const sigmaOf = (row: readonly number[], actions: number, action: number) =>
  Math.sqrt(row[actions + action] ?? row[actions] ?? NaN);

interface RowProps extends ActionBarsProps {
  domain: Domain;
  name: string;
  action: number;
}

function Probability({ thoughts, decision, name, action }: RowProps) {
  const share = thoughts.numbers[decision]?.[action] ?? NaN;
  return (
    <Line name={name} number={`${(share * 100).toFixed(1)} %`} taken={thoughts.action[decision] === action}>
      <Bar from={0} to={share} />
    </Line>
  );
}

function ActionValue({ thoughts, decision, domain, name, action }: RowProps) {
  const value = thoughts.numbers[decision]?.[action] ?? NaN;
  return (
    <Line name={name} number={score(value)} taken={thoughts.action[decision] === action}>
      <Bar from={placeOn(domain, 0)} to={placeOn(domain, value)} />
    </Line>
  );
}

function Spread({ thoughts, decision, domain, name, action }: RowProps) {
  const row = thoughts.numbers[decision] ?? [];
  const [mean, sigma] = [row[action] ?? NaN, sigmaOf(row, thoughts.head.action_names.length, action)];
  const taken = [thoughts.action[decision] ?? NaN].flat()[action] ?? NaN;
  return (
    <Line name={name} number={`${score(mean)}, σ ${score(sigma)}, took ${score(taken)}`}>
      <Bar from={placeOn(domain, mean - sigma)} to={placeOn(domain, mean + sigma)} />
      <span className={classes.mean} style={{ left: `${placeOn(domain, mean) * 100}%` }} />
      <span className={classes.dot} style={{ left: `${placeOn(domain, taken) * 100}%` }} />
    </Line>
  );
}

interface LineProps {
  name: string;
  number: string;
  taken?: boolean;
  children: ReactNode;
}

function Line({ name, number, taken = false, children }: LineProps) {
  return (
    <li className={classes.row} data-taken={taken || undefined}>
      <span className={classes.name}>
        <span className={classes.mark} aria-hidden>
          {taken ? "▸" : ""}
        </span>
        {name}
        {taken && <VisuallyHidden>, taken</VisuallyHidden>}
      </span>
      <span className={classes.track}>{children}</span>
      <span className={classes.number}>{number}</span>
    </li>
  );
}

function Bar({ from, to }: { from: number; to: number }) {
  if (Number.isNaN(from + to)) return null;
  const [left, right] = from < to ? [from, to] : [to, from];
  return (
    <span className={classes.bar} style={{ left: `${left * 100}%`, width: `${(right - left) * 100}%` }} />
  );
}
