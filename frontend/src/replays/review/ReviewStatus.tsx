import { Button, Group, Text } from "@mantine/core";
import { isUnfinished } from "@/api/jobs";
import { useStopReview, type ReviewedGame } from "@/api/reviews";
import type { Review } from "@/api/types";
import { JobState } from "@/ui/JobState";
import { useMayEdit } from "@/ui/mayEdit";

/** Progress of a review, or why it ended, with a button that stops it. Renders nothing once it is done. */
export function ReviewStatus({ review, game }: { review: Review; game: ReviewedGame }) {
  const stop = useStopReview(game);
  const mayEdit = useMayEdit();
  if (review.state === "done") return null;
  return (
    <Group gap="xs">
      <JobState job={review} kind="review" />
      {isUnfinished(review) && mayEdit && (
        <Button
          size="compact-sm"
          variant="default"
          loading={stop.isPending}
          onClick={() => stop.mutate(review.id)}
        >
          Stop
        </Button>
      )}
      {review.reason && (
        <Text size="sm" c="dimmed">
          {review.reason}
        </Text>
      )}
    </Group>
  );
}
