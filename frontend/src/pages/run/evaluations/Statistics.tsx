import { Title } from "@mantine/core";
import type { ReactNode } from "react";
import type { EvaluationWithEpisodes, MetricValue } from "@/api/types";
import { formatInterval, humanPercent, plural, score, toSentence } from "@/ui/format";
import { Score } from "@/ui/Quantity";
import runClasses from "../run.module.css";
import classes from "./evaluations.module.css";

const TOO_ALIKE = "Not available: there is a single distinct episode, or most scores are equal.";

/** Statistics of the scores, with explanations. */
export function Statistics({ evaluation }: { evaluation: EvaluationWithEpisodes }) {
  const { mean, median, standard_error, interval, episodes, distinct } = evaluation;
  const repeats = distinct !== null && distinct < episodes.length;
  return (
    <section className={runClasses.card} aria-label="Statistics">
      <Title order={3} mb="xs">
        Statistics
      </Title>
      <dl className={classes.statistics}>
        <Statistic name="Mean" value={<Score value={mean} meaning="Mean" />}>
          Sum of the scores divided by their number, {episodes.length}.
          {repeats &&
            ` ${plural(distinct, "episode is", "episodes are")} distinct. The others have the same actions and scores.`}
        </Statistic>
        <Statistic name="Median" value={<Score value={median} meaning="Median" />}>
          Half of the episodes score this or less.
        </Statistic>
        <Statistic name="Standard error" value={score(standard_error)}>
          {standard_error === null
            ? TOO_ALIKE
            : `Standard error of the mean${repeats ? ", for which repeated episodes are one" : ""}.`}
        </Statistic>
        <Statistic name="95 % interval" value={interval ? formatInterval(interval) : "–"}>
          {interval === null
            ? TOO_ALIKE
            : distinct === null
              ? "Bootstrap interval of the mean, by an earlier version. It counts repeated episodes."
              : `Interval of the mean by Student's t${repeats ? ", for which repeated episodes are one" : ""}.`}
        </Statistic>
        <NormalizedScore evaluation={evaluation} />
      </dl>
    </section>
  );
}

function NormalizedScore({ evaluation }: { evaluation: EvaluationWithEpisodes }) {
  const { human_normalized, normalized_by, not_normalized_because } = evaluation;
  if (human_normalized === null || !normalized_by) {
    return (
      <Statistic name="Human-normalized" value="–">
        {not_normalized_because && toSentence(not_normalized_because)}
      </Statistic>
    );
  }
  const format = (value: MetricValue) => score(value);
  const { random, human, source, table, protocol } = normalized_by;
  return (
    <Statistic name="Human-normalized" value={humanPercent(human_normalized)}>
      100 · (mean − random) / (human − random), where random play scores {format(random)} and a human{" "}
      {format(human)} by {protocol}: {source}, {table}.
    </Statistic>
  );
}

interface StatisticProps {
  name: string;
  value: ReactNode;
  /** Explanation of the statistic. */
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
