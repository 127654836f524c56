import { Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { evaluationChoicesQuery } from "@/api/evaluations";
import type { EvaluationWithEpisodes, Run } from "@/api/types";
import { exact, plural } from "@/ui/format";
import jobClasses from "../jobs.module.css";
import { JobTimes } from "../JobPage";
import runClasses from "../run.module.css";
import { formatActing, describeActing } from "./words";

interface EvaluationSettingsProps {
  run: Run;
  evaluation: EvaluationWithEpisodes;
}

/** Checkpoint, protocol and other settings of an evaluation. */
export function EvaluationSettings({ run, evaluation }: EvaluationSettingsProps) {
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
