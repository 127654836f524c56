import { Anchor, Group, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { isNotFound } from "@/api/problem";
import { evaluationQuery } from "@/api/evaluations";
import type { EvaluationWithEpisodes, Run } from "@/api/types";
import { EmptyState } from "@/ui/EmptyState";
import { evaluationName } from "@/ui/evaluationName";
import { JobState } from "@/ui/JobState";
import { NoPlayer } from "@/ui/NoPlayer";
import { Reason } from "@/ui/Reason";
import { JobPage, parseJobId } from "../JobPage";
import { SUPERSEDED_REASON } from "../jobWords";
import runClasses from "../run.module.css";
import { EpisodeTable } from "./EpisodeTable";
import { EvaluationActions } from "./EvaluationActions";
import classes from "./evaluations.module.css";
import { ScoresChart } from "./ScoresChart";
import { Statistics } from "./Statistics";
import { UnlikeTraining } from "./UnlikeTraining";
import { EvaluationSettings } from "./EvaluationSettings";

/** Page of one evaluation: scores, statistics and settings. */
export function EvaluationDetail({ run, idText }: { run: Run; idText: string }) {
  const id = parseJobId(idText);
  const query = useQuery({ ...evaluationQuery(run.id, id ?? 0), enabled: id !== null });
  const isGone = id === null || isNotFound(query.error);
  return (
    <JobPage
      run={run}
      noun="evaluation"
      tab="evaluations"
      query={query}
      missing={isGone ? `There is no evaluation ${idText}` : null}
    >
      {(evaluation, leave) => <LoadedEvaluation run={run} evaluation={evaluation} onRemoved={leave} />}
    </JobPage>
  );
}

interface LoadedEvaluationProps {
  run: Run;
  evaluation: EvaluationWithEpisodes;
  onRemoved: () => void;
}

function LoadedEvaluation({ run, evaluation, onRemoved }: LoadedEvaluationProps) {
  if (evaluation.run_id !== run.id) {
    return (
      <EmptyState title={`Evaluation ${evaluation.id} belongs to another run`}>
        <Anchor component={Link} to={`/runs/${evaluation.run_id}/evaluations/${evaluation.id}`}>
          Open it in run {evaluation.run_id}
        </Anchor>
      </EmptyState>
    );
  }
  const done = evaluation.state === "done";
  return (
    <>
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <Group gap={12}>
          <Title order={2}>Evaluation by {evaluationName(evaluation)}</Title>
          <JobState job={evaluation} kind="evaluation" />
        </Group>
        <EvaluationActions evaluation={evaluation} onRemoved={onRemoved} />
      </Group>
      {evaluation.superseded && <Text size="sm">This score is superseded. {SUPERSEDED_REASON}</Text>}
      <Reason of={evaluation} />
      {evaluation.state === "queued" && <NoPlayer />}
      <UnlikeTraining evaluation={evaluation} />
      <div className={classes.detail}>
        {(done || evaluation.episodes.length > 0) && (
          <>
            <div className={runClasses.card}>
              <ScoresChart evaluation={evaluation} />
            </div>
            {done && <Statistics evaluation={evaluation} />}
            <EpisodeTable evaluation={evaluation} />
          </>
        )}
        <EvaluationSettings run={run} evaluation={evaluation} />
      </div>
    </>
  );
}
