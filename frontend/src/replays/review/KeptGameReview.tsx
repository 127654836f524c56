import { Button, Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { comparisonQuery } from "@/api/comparisons";
import { isUnfinished, useCancelJob, useDeleteJob } from "@/api/jobs";
import { keptGameReviewsQuery, reviewKeys, useReviewKeptGame } from "@/api/reviews";
import type { KeptGame, Review, ReviewDocument } from "@/api/types";
import { RunsField } from "@/charts/fields/RunsField";
import { capitalize, duration, exact, plural } from "@/ui/format";
import { DeleteJob, JobStatus } from "@/ui/JobControls";
import { useMayEdit } from "@/ui/mayEdit";
import { QueryError } from "@/ui/QueryError";
import { nameDecision } from "../futures/words";
import { describeMistake, mistakesOf, reviewedOf, summarize } from "./words";
import classes from "./review.module.css";

/** Decisions that a first review looks at, and that each continuation adds. */
const DECISIONS = 60;
const FRAMES_PER_SECOND = 60;
/** A moment is shown this long before its decision. */
const BEFORE_SECONDS = 0.5;

interface KeptGameReviewProps {
  kept: KeptGame;
  /** Show a moment of the video, as a share of its length. */
  show: (share: number) => void;
}

/** Review of a game that a person played: which of their decisions lost points. */
export function KeptGameReview({ kept, show }: KeptGameReviewProps) {
  const query = useQuery(keptGameReviewsQuery(kept.id));
  const request = useReviewKeptGame(kept.id);
  const stop = useCancelJob("review", [reviewKeys.list({ kept: kept.id })]);
  const mayEdit = useMayEdit();
  const review = query.data?.[0];
  return (
    <Stack gap="xs" mt="xs" role="region" aria-label="Review">
      {query.isError && !query.data && <QueryError error={query.error} retry={() => void query.refetch()} />}
      {query.data && !review && mayEdit && <Start kept={kept} request={request} />}
      {query.data && !review && !mayEdit && <Text size="sm">Nobody has reviewed this game.</Text>}
      {review && (
        <>
          <JobStatus job={review} kind="review" stop={stop} />
          <Text size="sm" c="dimmed">
            By the agent of run {review.run_id} at {exact(review.step, "steps")}
          </Text>
          {review.document && <Found kept={kept} document={review.document} show={show} />}
          {!isUnfinished(review) && mayEdit && <Continue review={review} kept={kept} request={request} />}
        </>
      )}
    </Stack>
  );
}

interface RequestProps extends Pick<KeptGameReviewProps, "kept"> {
  request: ReturnType<typeof useReviewKeptGame>;
}

/** Choice of the agent that plays on after each of your decisions. */
function Start({ kept, request }: RequestProps) {
  const [run, setRun] = useState<number | null>(null);
  const known = useQuery({ ...comparisonQuery(run === null ? [] : [run], [], false), enabled: run !== null });
  return (
    <>
      <Text size="sm" c="dimmed" maw={640}>
        An agent plays on after each of your {DECISIONS} most suspicious decisions, once after your keys and
        once after each of its own actions. So a mistake is a decision that costs points if the agent takes
        over after it. This takes some minutes.
      </Text>
      <RunsField
        single
        max={1}
        env={kept.env}
        runs={run === null ? [] : [run]}
        known={known.data?.runs ?? []}
        onChange={([chosen]) => setRun(chosen ?? null)}
      />
      <Group>
        <Button
          size="xs"
          disabled={run === null}
          loading={request.isPending}
          onClick={() => run !== null && request.mutate({ run_id: run, decisions: DECISIONS })}
        >
          Review my game
        </Button>
      </Group>
    </>
  );
}

interface FoundProps extends KeptGameReviewProps {
  document: ReviewDocument;
}

/** The mistakes in the order of the game. A click shows the moment in the video. */
function Found({ kept, document, show }: FoundProps) {
  const mistakes = mistakesOf(reviewedOf({ document }));
  const seconds = kept.frames / FRAMES_PER_SECOND;
  const momentOf = (decision: number) => (decision / Math.max(1, document.decisions)) * seconds;
  return (
    <>
      <Text size="sm" role="status">
        {summarize({ document })}
      </Text>
      {mistakes.length > 0 && (
        <ul className={classes.list} aria-label="Mistakes">
          {mistakes.map((each) => (
            <li key={each.decision}>
              <button
                type="button"
                className={classes.open}
                onClick={() =>
                  show(Math.max(0, momentOf(each.decision) - BEFORE_SECONDS) / Math.max(seconds, 1))
                }
              >
                <span>
                  At {duration(momentOf(each.decision))}: {describeMistake(each)}
                </span>
                <Text component="span" size="xs" c="dimmed" display="block">
                  {capitalize(nameDecision(each.decision))}, up to the next point or lost life
                </Text>
              </button>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function Continue({ review, kept, request }: RequestProps & { review: Review }) {
  const remove = useDeleteJob("review", [reviewKeys.list({ kept: kept.id })]);
  const reviewed = reviewedOf(review).length;
  const left = (review.document?.decisions ?? 0) - reviewed;
  return (
    <Group gap="xs">
      {left > 0 && (
        <Button
          size="xs"
          variant="default"
          loading={request.isPending}
          onClick={() => request.mutate({ run_id: review.run_id, decisions: reviewed + DECISIONS })}
        >
          Review {plural(Math.min(DECISIONS, left), "more decision")}
        </Button>
      )}
      <DeleteJob job={review} mutation={remove}>
        Delete review
      </DeleteJob>
    </Group>
  );
}
