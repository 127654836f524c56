import { Anchor, Group, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "react-router";
import { isNotFound } from "@/api/problem";
import { evaluationQuery } from "@/api/evaluations";
import type { EvaluationWithEpisodes, Run } from "@/api/types";
import { EmptyState } from "@/ui/EmptyState";
import { evaluationName } from "@/ui/evaluationName";
import { EvaluationState } from "@/ui/EvaluationState";
import { NoPlayer } from "@/ui/NoPlayer";
import { QueryError } from "@/ui/QueryError";
import { Reason } from "@/ui/Reason";
import { useIsMounted } from "@/ui/useIsMounted";
import runClasses from "../run.module.css";
import { EpisodeTable } from "./EpisodeTable";
import { EvaluationActions } from "./EvaluationActions";
import classes from "./evaluations.module.css";
import { ScoresChart } from "./ScoresChart";
import { Statistics } from "./Statistics";
import { UnlikeTraining } from "./UnlikeTraining";
import { LEFT_BEHIND } from "./words";
import { WhatWasEvaluated } from "./WhatWasEvaluated";

/** /runs/12/evaluations/5: what one evaluation found, how, and of what. */
export function EvaluationDetail({ run, written }: { run: Run; written: string }) {
  const id = Number(written);
  const isNumber = Number.isSafeInteger(id) && id > 0;
  const query = useQuery({ ...evaluationQuery(run.id, id), enabled: isNumber });
  const gone = !isNumber || isNotFound(query.error);
  const navigate = useNavigate();
  const stillHere = useIsMounted();
  const all = `/runs/${run.id}/evaluations`;
  const leave = () => {
    if (stillHere()) void navigate(all);
  };
  return (
    <Stack gap="md">
      <Anchor component={Link} to={all} size="sm" w="fit-content">
        All evaluations of run {run.id}
      </Anchor>
      {gone && <EmptyState title={`There is no evaluation ${written}`}>It may have been removed.</EmptyState>}
      {!gone && query.isError && !query.data && (
        <QueryError error={query.error} retry={() => void query.refetch()} />
      )}
      {!gone && query.isPending && <Text c="dimmed">Loading the evaluation…</Text>}
      {!gone && query.data && <Found run={run} evaluation={query.data} onRemoved={leave} />}
    </Stack>
  );
}

interface FoundProps {
  run: Run;
  evaluation: EvaluationWithEpisodes;
  onRemoved: () => void;
}

function Found({ run, evaluation, onRemoved }: FoundProps) {
  if (evaluation.run_id !== run.id) {
    return (
      <EmptyState title={`Evaluation ${evaluation.id} is of another run`}>
        <Anchor component={Link} to={`/runs/${evaluation.run_id}/evaluations/${evaluation.id}`}>
          See it at run {evaluation.run_id}
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
          <EvaluationState evaluation={evaluation} />
        </Group>
        <EvaluationActions evaluation={evaluation} onRemoved={onRemoved} />
      </Group>
      {evaluation.superseded && <Text size="sm">This score counts no longer. {LEFT_BEHIND}</Text>}
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
        <WhatWasEvaluated evaluation={evaluation} />
      </div>
    </>
  );
}
