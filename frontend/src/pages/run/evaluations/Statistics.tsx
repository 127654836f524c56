import { Title } from "@mantine/core";
import type { ReactNode } from "react";
import type { EvaluationWithEpisodes, MetricValue } from "@/api/types";
import { humanPercent, score } from "@/ui/format";
import { Score } from "@/ui/Quantity";
import runClasses from "../run.module.css";
import classes from "./evaluations.module.css";
import { intervalText, sentence } from "./words";

const SINGLE = "A single episode says nothing about it.";

/** What the scores say, and how each number is computed. */
export function Statistics({ evaluation }: { evaluation: EvaluationWithEpisodes }) {
  const { mean, median, standard_error, interval, episodes, seed } = evaluation;
  return (
    <section className={runClasses.card} aria-label="Statistics">
      <Title order={3} mb="xs">
        Statistics
      </Title>
      <dl className={classes.statistics}>
        <Statistic name="Mean" value={<Score value={mean} meaning="Mean" />}>
          The sum of the scores divided by their number, {episodes.length}.
        </Statistic>
        <Statistic name="Median" value={<Score value={median} meaning="Median" />}>
          Half of the episodes scored this or less.
        </Statistic>
        <Statistic name="Standard error" value={score(standard_error)}>
          {standard_error === null
            ? SINGLE
            : "Of the mean: the scores' standard deviation, with n − 1, over √n."}
        </Statistic>
        <Statistic name="95 % interval" value={interval ? intervalText(interval) : "–"}>
          {interval
            ? `Of the mean, by bootstrap: the middle 95 % of the means of 10,000 samples that are drawn from the scores with replacement, with seed ${seed}.`
            : SINGLE}
        </Statistic>
        <Normalised evaluation={evaluation} />
      </dl>
    </section>
  );
}

function Normalised({ evaluation }: { evaluation: EvaluationWithEpisodes }) {
  const { human_normalised, normalised_by, not_normalised_because } = evaluation;
  if (human_normalised === null || !normalised_by) {
    return (
      <Statistic name="Human-normalized" value="–">
        {not_normalised_because && sentence(not_normalised_because)}
      </Statistic>
    );
  }
  const told = (value: MetricValue) => score(value);
  const { random, human, source, table, protocol } = normalised_by;
  return (
    <Statistic name="Human-normalized" value={humanPercent(human_normalised)}>
      100 · (mean − random) / (human − random), where random play scores {told(random)} and a person{" "}
      {told(human)} by {protocol}: {source}, {table}.
    </Statistic>
  );
}

interface StatisticProps {
  name: string;
  value: ReactNode;
  /** How it is computed. */
  children: ReactNode;
}

function Statistic({ name, value, children }: StatisticProps) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
      <dd className={classes.how}>{children}</dd>
    </div>
  );
}
