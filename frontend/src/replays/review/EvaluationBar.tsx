import { Text } from "@mantine/core";
import { type ReactNode, useMemo } from "react";
import type { ReviewedDecision } from "@/api/types";
import { score } from "@/ui/format";
import type { Playhead } from "../clock";
import { formatEstimate, nameDecision } from "../futures/words";
import { type Domain, domainOf, placeOn } from "../scale";
import type { Thoughts } from "../track";
import { useDecision } from "../useThoughts";
import classes from "./review.module.css";
import { markOf } from "./words";

interface EvaluationBarProps {
  thoughts: Thoughts;
  head: Playhead;
  reviewed: readonly ReviewedDecision[];
  playing: boolean;
}

/** Decisions for which a playing replay keeps showing a mistake, which would otherwise only flash. */
const KEPT = 10;

/**
 * What the shown moment is worth. At reviewed decisions, this is the mean outcome of simulations, with the loss of a
 * mistake as a gap. Elsewhere it is the critic's value. Each has its own scale.
 */
export function EvaluationBar({ thoughts, head, reviewed, playing }: EvaluationBarProps) {
  const decision = useDecision(thoughts, head);
  const scales = useMemo(() => scalesOf(thoughts, reviewed), [thoughts, reviewed]);
  const shown = findShown(reviewed, decision, playing);
  const domain = shown ? scales.outcomes : scales.values;
  return (
    <section className={classes.evaluation} aria-label="Evaluation">
      {shown ? (
        <Simulated each={shown} domain={domain} />
      ) : (
        <Opinion value={thoughts.value[decision] ?? NaN} domain={domain} />
      )}
      <div className={classes.ends} aria-hidden>
        <span>{score(domain[0])}</span>
        <span>{score(domain[1])}</span>
      </div>
    </section>
  );
}

/** Return the reviewed decision to show: the current one, or a mistake that has just been played. */
function findShown(reviewed: readonly ReviewedDecision[], decision: number, playing: boolean) {
  const known = reviewed.filter(({ taken_outcome }) => taken_outcome);
  const here = known.find((each) => each.decision === decision);
  if (!playing || (here && markOf(here) === "mistake")) return here;
  const since = (each: ReviewedDecision) => decision - each.decision;
  return (
    known.findLast((each) => markOf(each) === "mistake" && since(each) > 0 && since(each) <= KEPT) ?? here
  );
}

/** Return the scales of outcomes and of the critic's values over the replay. */
function scalesOf(thoughts: Thoughts, reviewed: readonly ReviewedDecision[]) {
  const means = reviewed.flatMap(({ taken_outcome, better_outcome }) =>
    [taken_outcome, better_outcome].flatMap((each) => (each ? [Number(each.mean)] : [])),
  );
  // An outcome with clipped rewards is at most 1 in magnitude.
  const most = thoughts.head.clip_rewards ? 1 : Math.max(0, ...means);
  const least = means.some((mean) => mean < 0) ? (thoughts.head.clip_rewards ? -1 : Math.min(...means)) : 0;
  return { outcomes: domainOf([least, most]), values: domainOf([0, ...thoughts.value]) };
}

function Simulated({ each, domain }: { each: ReviewedDecision; domain: Domain }) {
  const { taken_outcome: taken, better_outcome: better, decision, taken: action, better: other, loss } = each;
  const [from, to] = [
    placeOn(domain, Number(taken?.mean)),
    placeOn(domain, Number(better?.mean ?? taken?.mean)),
  ];
  return (
    <>
      <Caption title={`Simulated from ${nameDecision(decision)}`}>
        {taken && `${action} ${formatEstimate(taken)}`}
        {better && `, ${other} ${formatEstimate(better)}`}
        {loss && <strong className={classes.loss}> −{score(loss.mean)}</strong>}
      </Caption>
      <Bar source="simulated" domain={domain} to={from}>
        {to > from && (
          <span className={classes.gap} style={{ left: `${from * 100}%`, width: `${(to - from) * 100}%` }} />
        )}
      </Bar>
    </>
  );
}

function Opinion({ value, domain }: { value: number; domain: Domain }) {
  return (
    <>
      <Caption title="The critic's opinion">{score(value)}, not simulated here</Caption>
      <Bar source="critic" domain={domain} to={placeOn(domain, value)} />
    </>
  );
}

function Caption({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Text size="xs" className={classes.caption}>
      <span>{title}</span>
      <span className={classes.numbers}>{children}</span>
    </Text>
  );
}

interface BarProps {
  source: "simulated" | "critic";
  domain: Domain;
  to: number;
  children?: ReactNode;
}

/** A bar that is filled from the left, with a mark at 0 if this is within the scale. */
function Bar({ source, domain, to, children }: BarProps) {
  return (
    <div className={classes.bar} data-source={source} aria-hidden>
      {Number.isFinite(to) && <span className={classes.fill} style={{ width: `${to * 100}%` }} />}
      {children}
      {domain[0] < 0 && domain[1] > 0 && (
        <span className={classes.zero} style={{ left: `${placeOn(domain, 0) * 100}%` }} />
      )}
    </div>
  );
}
