import { Button, CloseButton, Group, Text, Title } from "@mantine/core";
import { IconChecklist } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { useEnvironmentFamily } from "@/api/configuration";
import { isUnfinished, useCancelJob, useDeleteJob } from "@/api/jobs";
import { reviewKeys, reviewsQuery, useRequestReview } from "@/api/reviews";
import type { Review, ReviewDocument, ReviewedDecision } from "@/api/types";
import { BlockableButton } from "@/ui/BlockableButton";
import { capitalize, plural } from "@/ui/format";
import { DeleteJob, JobStatus } from "@/ui/JobControls";
import { QueryError } from "@/ui/QueryError";
import { useCatchFocus } from "@/ui/useCatchFocus";
import type { Playhead } from "../clock";
import { nameDecision } from "../futures/words";
import type { PlayableReplay } from "../places";
import type { Thoughts } from "../track";
import type { Steps } from "../useSteps";
import { MistakeMoment } from "./MistakeMoment";
import { PracticeSection } from "./PracticeSection";
import { placeIn, ReviewRibbon, RibbonCursor } from "./ReviewRibbon";
import { Summary } from "./Summary";
import { describeMistake, mistakesOf, REASONS, reviewedOf, summarize } from "./words";
import classes from "./review.module.css";

/** Decisions that a first review looks at, and that each continuation adds. */
const DECISIONS = 60;
const MAX_DECISIONS = 2_000;

interface ReviewPanelProps {
  replay: PlayableReplay;
  thoughts: Thoughts;
  head: Playhead;
  steps: Steps;
  onClose: () => void;
}

/** Panel that reviews a replay: the agent's mistakes, and how sure they are. */
export function ReviewPanel({ replay, thoughts, head, steps, onClose }: ReviewPanelProps) {
  const panel = useRef<HTMLElement>(null);
  useEffect(() => panel.current?.focus(), []);
  const query = useQuery(reviewsQuery(replay));
  const request = useRequestReview(replay);
  const stop = useCancelJob("review", [reviewKeys.list(replay)]);
  const remove = useDeleteJob("review", [reviewKeys.list(replay)]);
  const review = query.data?.[0];
  const reviewed = review ? reviewedOf(review) : [];
  const decisions = thoughts.picture.length;
  const start = (count: number) => request.mutate({ decisions: Math.min(count, MAX_DECISIONS) });

  return (
    <section ref={panel} tabIndex={-1} className={`${classes.panel} ${classes.colors}`} aria-label="Review">
      <Group justify="space-between" wrap="nowrap">
        <Title order={2} size="h3">
          Review
        </Title>
        <CloseButton size={32} aria-label="Close the review" onClick={onClose} />
      </Group>
      {query.isError && !query.data && <QueryError error={query.error} retry={() => void query.refetch()} />}
      {query.data && !review && (
        <>
          <Text size="sm" c="dimmed" maw={640}>
            A worker looks for mistakes: decisions where another action would have led to a better outcome. It
            simulates futures of the {DECISIONS} most suspicious decisions, which takes some minutes. On
            average, at most 5 % of the mistakes that it shows are false.
          </Text>
          {replay.actions.edit ? (
            <Text size="sm">{replay.actions.edit}</Text>
          ) : (
            <Group>
              <Button size="sm" loading={request.isPending} onClick={() => start(DECISIONS)}>
                Review {Math.min(DECISIONS, decisions)} decisions
              </Button>
            </Group>
          )}
        </>
      )}
      {review && (
        <>
          <JobStatus job={review} kind="review" stop={stop} />
          {review.document && (
            <Found
              replay={replay}
              thoughts={thoughts}
              head={head}
              review={review}
              document={review.document}
              onDecision={steps.toDecision}
            />
          )}
          {review.document && !isUnfinished(review) && <PracticeSection review={review} />}
          {!isUnfinished(review) && replay.actions.edit === null && (
            <Group gap="xs">
              {reviewed.length < decisions && (
                <Button
                  size="xs"
                  variant="default"
                  loading={request.isPending}
                  onClick={() => start(reviewed.length + DECISIONS)}
                >
                  Review {plural(Math.min(DECISIONS, decisions - reviewed.length), "more decision")}
                </Button>
              )}
              <DeleteJob job={review} mutation={remove}>
                Delete review
              </DeleteJob>
            </Group>
          )}
          <Text size="xs" c="dimmed" maw={640}>
            A loss is the mean difference of the outcomes: the discounted reward up to the next point or lost
            life. “No mistake shown” does not mean that a decision was good.
          </Text>
        </>
      )}
    </section>
  );
}

interface FoundProps extends Pick<ReviewPanelProps, "replay" | "thoughts" | "head"> {
  review: Review;
  document: ReviewDocument;
  onDecision: (decision: number) => void;
}

/** What a review has found: the marks, the summary, the mistakes, and the moment of one. */
function Found({ replay, thoughts, head, review, document, onDecision }: FoundProps) {
  const [chosen, setChosen] = useState<number | null>(null);
  const pixelated = useEnvironmentFamily(document.env)?.is_pixel_art ?? false;
  const reviewed = reviewedOf(review);
  const mistakes = mistakesOf(reviewed);
  const mistake = mistakes.find(({ decision }) => decision === chosen);
  const choose = (decision: number) => {
    setChosen(decision);
    onDecision(decision);
  };
  return (
    <>
      <ReviewRibbon reviewed={reviewed} place={placeIn(thoughts)} chosen={chosen} onChoose={choose}>
        <RibbonCursor thoughts={thoughts} head={head} />
      </ReviewRibbon>
      <Text size="sm" role="status">
        {summarize(review)}
      </Text>
      <Summary
        replay={replay}
        thoughts={thoughts}
        document={document}
        reviewed={reviewed}
        pixelated={pixelated}
        onChoose={choose}
      />
      <div className={classes.columns}>
        <Mistakes mistakes={mistakes} chosen={chosen} onChoose={choose} />
        {mistake && (
          <MistakeMoment
            key={mistake.decision}
            replay={replay}
            thoughts={thoughts}
            document={document}
            mistake={mistake}
            isRunning={isUnfinished(review)}
            onClose={() => setChosen(null)}
          />
        )}
      </div>
    </>
  );
}

interface MistakesProps {
  mistakes: readonly ReviewedDecision[];
  chosen: number | null;
  onChoose: (decision: number) => void;
}

/** The mistakes in the order of the episode. A click opens the moment. */
function Mistakes({ mistakes, chosen, onChoose }: MistakesProps) {
  if (mistakes.length === 0) return null;
  return (
    <ul className={classes.list} aria-label="Mistakes">
      {mistakes.map((each) => (
        <li key={each.decision}>
          <button
            type="button"
            className={classes.open}
            aria-pressed={each.decision === chosen}
            onClick={() => onChoose(each.decision)}
          >
            <span>
              {capitalize(nameDecision(each.decision))}: {describeMistake(each)}
            </span>
            <Text component="span" size="xs" c="dimmed" display="block">
              {capitalize(REASONS[each.reason])}
            </Text>
          </button>
        </li>
      ))}
    </ul>
  );
}

interface ReviewButtonProps {
  opened: boolean;
  /** Reason why a review is unavailable. */
  blocked: string | null;
  onToggle: () => void;
}

/** Button that opens the review. */
export function ReviewButton({ opened, blocked, onToggle }: ReviewButtonProps) {
  const button = useCatchFocus<HTMLButtonElement>(!opened);
  return (
    <BlockableButton
      ref={button}
      blocked={blocked}
      tooltip="Find the agent's mistakes"
      size="compact-sm"
      variant={opened ? "light" : "default"}
      leftSection={<IconChecklist size={14} aria-hidden />}
      aria-expanded={opened}
      onClick={onToggle}
    >
      Review
    </BlockableButton>
  );
}
