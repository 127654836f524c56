import { Text } from "@mantine/core";
import type { Practice, PracticeDocument } from "@/api/types";
import {
  decimalsFor,
  exact,
  formatDecimals,
  formatInterval,
  nearestPercent,
  plural,
  score,
} from "@/ui/format";
import classes from "./practice.module.css";

type Difference = PracticeDocument["mistakes"];

const UNITS = { moment: "kept mistake", episode: "evaluation episode", pair: "pair" } as const;
const NONE = "No improvement shown";

/** What each verdict says. One pair shows something about its two agents, and several show it about practice. */
const WORDS = {
  mistakes: {
    practice: {
      improved: "Practice makes these mistakes rarer",
      harmed: "Practice makes these mistakes more frequent",
    },
    agents: {
      improved: "This agent makes fewer of these mistakes than its control",
      harmed: "This agent makes more of these mistakes than its control",
    },
  },
  score: {
    practice: { improved: "Practice raises the score", harmed: "Practice lowers the score" },
    agents: {
      improved: "This agent scores higher than its control",
      harmed: "This agent scores lower than its control",
    },
  },
} as const;

/** Return a verdict in plain words. */
export function describeVerdict(question: keyof typeof WORDS, { verdict, unit }: Difference): string {
  if (verdict === "no improvement shown") return NONE;
  return WORDS[question][unit === "pair" ? "practice" : "agents"][verdict];
}

const REPEATED = {
  improved: "shown to be rarer",
  harmed: "shown to be more frequent",
  "no improvement shown": "no improvement shown",
} as const;

/** Return a difference with its interval: "+0.31 (95 % 0.08 to 0.52, 14 kept mistakes)". */
export function describeDifference({ mean, interval, unit, count }: Difference): string {
  const units = plural(count, UNITS[unit]);
  const value = Number(mean);
  const sign = value > 0 ? "+" : "";
  if (!interval) return `${sign}${score(value)} (${units}, too few for an interval)`;
  const decimals = decimalsFor(Number(interval[1]) - Number(interval[0]));
  return `${sign}${formatDecimals(value, decimals)} (95 % ${formatInterval(interval)}, ${units})`;
}

interface Bar {
  name: string;
  value: number;
  arm: "before" | "control" | "practice";
}

interface BarsProps {
  label: string;
  bars: readonly Bar[];
}

/** Horizontal bars of the agents, which begin at 0. */
function Bars({ label, bars }: BarsProps) {
  const low = Math.min(0, ...bars.map(({ value }) => value));
  const high = Math.max(0, ...bars.map(({ value }) => value));
  const width = high - low || 1;
  const place = (value: number) => (100 * (value - low)) / width;
  return (
    <dl className={classes.bars} aria-label={label}>
      {bars.map(({ name, value, arm }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <span className={classes.track} aria-hidden>
              <span
                className={classes.bar}
                data-arm={arm}
                style={{
                  left: `${place(Math.min(0, value))}%`,
                  width: `${place(Math.max(0, value)) - place(Math.min(0, value))}%`,
                }}
              />
              <span className={classes.zero} style={{ left: `${place(0)}%` }} />
            </span>
            <span className={classes.value}>{score(value)}</span>
          </dd>
        </div>
      ))}
    </dl>
  );
}

interface QuestionProps extends BarsProps {
  question: string;
  about: keyof typeof WORDS;
  difference: Difference;
}

function Question({ question, about, difference, label, bars }: QuestionProps) {
  return (
    <section className={classes.question} aria-label={question}>
      <Text size="xs" c="dimmed">
        {question}
      </Text>
      <Text fw={600} className={classes.verdict} data-verdict={difference.verdict}>
        {describeVerdict(about, difference)}
      </Text>
      <Bars label={label} bars={bars} />
      <Text size="xs" c="dimmed">
        Practice minus control: {describeDifference(difference)}
      </Text>
    </section>
  );
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, each) => sum + each, 0) / Math.max(1, values.length);

function meansOf({ arms }: PracticeDocument, field: "outcome" | "probability" | "score") {
  const of = (name: "practice" | "control") =>
    mean(arms.filter((arm) => arm.name === name).map((arm) => Number(arm[field])));
  return { practice: of("practice"), control: of("control") };
}

/** The two verdicts on practice, with what each agent does. */
export function PracticeVerdict({ document }: { document: PracticeDocument }) {
  const { held_out, mistakes, repeated, score: scores, pairs } = document;
  const before = (field: "outcome" | "probability") =>
    mean(held_out.map((each) => Number(each.before[field])));
  const [outcome, probability, points] = [
    meansOf(document, "outcome"),
    meansOf(document, "probability"),
    meansOf(document, "score"),
  ];
  const known = held_out.filter(({ was_practiced }) => was_practiced).length;
  return (
    <>
      <div className={classes.questions}>
        <Question
          question="Did these mistakes become rarer?"
          about="mistakes"
          difference={mistakes}
          label="Mean outcome at the kept mistakes"
          bars={[
            { name: "Before", value: before("outcome"), arm: "before" },
            { name: "Control", value: outcome.control, arm: "control" },
            { name: "Practice", value: outcome.practice, arm: "practice" },
          ]}
        />
        <Question
          question="Did the score rise?"
          about="score"
          difference={scores}
          label="Mean score of the evaluation episodes"
          bars={[
            { name: "Control", value: points.control, arm: "control" },
            { name: "Practice", value: points.practice, arm: "practice" },
          ]}
        />
      </div>
      <Text size="sm">
        The agent repeats the kept mistakes with a probability of {nearestPercent(before("probability"))}{" "}
        before, {nearestPercent(probability.control)} in the control, and{" "}
        {nearestPercent(probability.practice)} after practice ({REPEATED[repeated.verdict]}).
      </Text>
      <Text size="xs" c="dimmed" maw={640}>
        {plural(document.practiced.length, "mistake")} practiced, {held_out.length} kept to measure
        {known > 0 && ` (${known} of them ${known === 1 ? "looks" : "look"} like a practiced one)`}. Both
        agents trained {exact(document.steps)} more steps, with the same seed.{" "}
        {pairs > 1
          ? "The intervals are over pairs, and speak about practice of this agent at these mistakes."
          : "One pair compares these two agents. Whether practice helps needs three pairs or more."}{" "}
        “{NONE}” does not mean that nothing changed.
      </Text>
    </>
  );
}

/** What is known about each agent while a practice is in progress. */
export function MeasuredSoFar({ practice }: { practice: Practice }) {
  const measured = practice.arms.filter(({ outcome }) => outcome !== null);
  if (practice.outcome_before === null) return null;
  return (
    <Bars
      label="Mean outcome at the kept mistakes so far"
      bars={[
        { name: "Before", value: Number(practice.outcome_before), arm: "before" },
        ...measured.map(({ name, pair, outcome }) => ({
          name: `${name === "practice" ? "Practice" : "Control"}${(practice.pairs ?? 1) > 1 ? ` ${pair}` : ""}`,
          value: Number(outcome),
          arm: name,
        })),
      ]}
    />
  );
}
