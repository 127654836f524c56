import { Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import {
  evaluationChoicesQuery,
  evaluationKeys,
  evaluationQuery,
  scoresFigureQuery,
} from "@/api/evaluations";
import { isUnfinished, useCancelJob, useDeleteJob } from "@/api/jobs";
import type { Evaluation, EvaluationWithEpisodes, MetricValue, Run } from "@/api/types";
import type { Zoom } from "@/charts/curveView";
import { FigureFrame } from "@/charts/FigureFrame";
import { DataTable } from "@/ui/DataTable";
import { evaluationName } from "@/ui/evaluationName";
import { exact, formatInterval, humanPercent, plural, score, toSentence } from "@/ui/format";
import { notifyDone } from "@/ui/notify";
import { Score } from "@/ui/Quantity";
import { JobActions, JobPage, JobTimes, parseJobId } from "../JobPage";
import { describeActing, formatActing, formatMean } from "./words";
import warningClasses from "@/ui/Warning.module.css";
import jobClasses from "../jobs.module.css";
import runClasses from "../run.module.css";
import classes from "./evaluations.module.css";

/** Page of one evaluation: scores, statistics and settings. */
export function EvaluationDetail({ run, idText }: { run: Run; idText: string }) {
  const id = parseJobId(idText);
  const query = useQuery({ ...evaluationQuery(run.id, id ?? 0), enabled: id !== null });
  return (
    <JobPage
      run={run}
      kind="evaluation"
      tab="evaluations"
      idText={idText}
      query={query}
      title={(evaluation) => `Evaluation by ${evaluationName(evaluation)}`}
      actions={(evaluation, leave) => <EvaluationActions evaluation={evaluation} onRemoved={leave} />}
    >
      {(evaluation) => (
        <>
          <UnlikeTraining evaluation={evaluation} />
          <div className={classes.detail}>
            {(evaluation.state === "done" || evaluation.episodes.length > 0) && (
              <>
                <div className={runClasses.card}>
                  <ScoresChart evaluation={evaluation} />
                </div>
                {evaluation.state === "done" && <Statistics evaluation={evaluation} />}
                <EpisodeTable evaluation={evaluation} />
              </>
            )}
            <EvaluationSettings run={run} evaluation={evaluation} />
          </div>
        </>
      )}
    </JobPage>
  );
}

/** Actions for an evaluation. */
export function EvaluationActions({
  evaluation,
  onRemoved,
}: {
  evaluation: Evaluation;
  onRemoved?: () => void;
}) {
  const { id, run_id, mean, episodes_total } = evaluation;
  const name = evaluationName(evaluation);
  const refetch = [evaluationKeys.ofRun(run_id)];
  const cancel = useCancelJob("evaluation", refetch);
  const remove = useDeleteJob("evaluation", refetch, (client) => {
    notifyDone(`Evaluation by ${name} removed.`);
    onRemoved?.();
    client.removeQueries({ queryKey: evaluationKeys.detail(run_id, id) });
  });
  return (
    <JobActions
      job={evaluation}
      kind="evaluation"
      name={`evaluation by ${name}`}
      cancel={cancel}
      remove={remove}
      results={{ path: `/export/evaluations/${id}.csv`, label: "Export all episodes (CSV)" }}
    >
      Evaluation by {name}, {plural(episodes_total, "episode")}
      {mean !== null && `, score ${formatMean(evaluation)}`}:{" "}
      {isUnfinished(evaluation)
        ? "this stops it and permanently deletes its episodes."
        : "this permanently deletes its scores."}{" "}
      The checkpoint is kept.
    </JobActions>
  );
}

/** Histogram of the episode scores. */
function ScoresChart({ evaluation }: { evaluation: EvaluationWithEpisodes }) {
  const [zoom, setZoom] = useState<Zoom | null>(null);
  const { id, run_id, episodes } = evaluation;
  const played = plural(episodes.length, "episode");
  const points = () =>
    Promise.resolve({
      header: ["evaluation", "episode", "score"],
      rows: episodes.map(({ number, score }) => [id, number, score]),
    });
  return (
    <FigureFrame
      title={`Scores of ${played}${isUnfinished(evaluation) ? " so far" : ""}`}
      label={`Histogram of the scores of ${played}.`}
      query={scoresFigureQuery(run_id, id)}
      zoom={zoom}
      onZoom={setZoom}
      revision="scores"
      legend={false}
      height={300}
      empty="No finite scores to show."
      file={`evaluation-${id}-scores`}
      points={points}
    />
  );
}

const TOO_ALIKE = "Not available: there is a single distinct episode, or most scores are equal.";

/** Statistics of the scores, with explanations. */
function Statistics({ evaluation }: { evaluation: EvaluationWithEpisodes }) {
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

/** Table of the finished episodes of an evaluation. */
function EpisodeTable({ evaluation }: { evaluation: EvaluationWithEpisodes }) {
  const { episodes, episodes_total: total, state } = evaluation;
  return (
    <section className={runClasses.card} aria-label="Episodes">
      <Title order={3} mb="xs">
        Episodes{isUnfinished(evaluation) && " so far"}
        {state !== "done" && `, ${episodes.length} of ${exact(total)}`}
      </Title>
      {isUnfinished(evaluation) && (
        <Text size="sm" c="dimmed" mb="xs">
          The mean and interval appear when all episodes have ended, because short episodes end first.
        </Text>
      )}
      <DataTable
        label="Table of episodes"
        frameClass={classes.episodes}
        verticalSpacing={4}
        horizontalSpacing={6}
        className={runClasses.oneLine}
        stickyHeader
        rows={episodes}
        rowKey={({ number }) => number}
        columns={[
          { title: "Episode", numeric: true, cell: ({ number }) => number + 1 },
          { title: "Score", numeric: true, cell: ({ score }) => <Score value={score} meaning="Score" /> },
          {
            title: "Frames",
            help: "Emulator frames since the reset, including frames before the agent's first action",
            numeric: true,
            cell: ({ frames }) => exact(frames),
          },
          { title: "Length", help: "Agent steps", numeric: true, cell: ({ length }) => exact(length) },
          { title: "Ended", cell: ({ ended }) => (ended === "over" ? "game over" : "time limit") },
        ]}
      />
    </section>
  );
}

interface EvaluationSettingsProps {
  run: Run;
  evaluation: EvaluationWithEpisodes;
}

/** Checkpoint, protocol and other settings of an evaluation. */
function EvaluationSettings({ run, evaluation }: EvaluationSettingsProps) {
  const choices = useQuery({
    ...evaluationChoicesQuery(run.id),
    enabled: run.unsupported_because === null,
  });
  const protocol = choices.data?.protocols.find(({ name }) => name === evaluation.protocol);
  return (
    <section className={runClasses.card} aria-label="Evaluation settings">
      <Title order={3} mb="xs">
        Settings
      </Title>
      <dl className={jobClasses.settings}>
        <dt>Checkpoint</dt>
        <dd>
          at {exact(evaluation.step, "steps")}, {exact(evaluation.frames, "frames")}
        </dd>
        <dt>SHA-256</dt>
        <dd className="mono">{evaluation.checkpoint_sha256}</dd>
        <dt>Protocol</dt>
        <dd>
          {evaluation.protocol}
          {protocol && (
            <Text size="sm" c="dimmed">
              {protocol.sentence} {protocol.source}.
            </Text>
          )}
        </dd>
        {evaluation.start_set && <StartPoints set={evaluation.start_set} />}
        <dt>Episodes</dt>
        <dd>{exact(evaluation.episodes_total)}</dd>
        <dt>Acting</dt>
        <dd>
          {formatActing(evaluation.acting)}
          <Text size="sm" c="dimmed">
            The agent {describeActing(evaluation.acting)}.
          </Text>
        </dd>
        <dt>Seed</dt>
        <dd>{evaluation.seed}</dd>
        <JobTimes job={evaluation} />
      </dl>
    </section>
  );
}

/** The start set of the episodes. */
function StartPoints({ set }: { set: NonNullable<EvaluationWithEpisodes["start_set"]> }) {
  return (
    <>
      <dt>Start points</dt>
      <dd>
        {set.name}, {plural(set.points, "point")}
        {!set.kept && ", removed"}
        <Text size="sm" c="dimmed">
          {set.source}. <span className="mono">{set.sha256}</span>
        </Text>
      </dd>
    </>
  );
}

/** Differences between the protocol and the training that may lower the score. */
function UnlikeTraining({ evaluation }: { evaluation: Evaluation }) {
  if (evaluation.unlike_training.length === 0) return null;
  return (
    <section className={`${runClasses.card} ${warningClasses.warning}`} aria-label="Unlike training">
      <Title order={3} mb="xs">
        Unlike training
      </Title>
      {evaluation.unlike_training.map((difference) => (
        <Text key={difference} size="sm" mb={4}>
          {difference}
        </Text>
      ))}
    </section>
  );
}
