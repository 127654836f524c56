import { Anchor, Stack, Text } from "@mantine/core";
import { Link } from "react-router";
import type { ReportPractice, ReportReview } from "@/api/types";
import { describeMistake, mistakesOf, reviewedOf, summarize } from "@/replays/review/words";
import { nameDecision } from "@/replays/futures/words";
import { REVIEW } from "@/replays/moment";
import { PracticeVerdict } from "@/replays/review/PracticeVerdict";
import { ReviewRibbon } from "@/replays/review/ReviewRibbon";
import { ReviewFacts } from "@/replays/review/Summary";
import { capitalize, score, short } from "@/ui/format";

interface ReviewViewProps {
  review: ReportReview;
  /** True if the reader may open the replay. */
  signedIn: boolean;
}

/** A review in a report: its marks, the summary and the mistakes. */
export function ReviewView({ review, signedIn }: ReviewViewProps) {
  const { document, run_id, replay_id } = review;
  const reviewed = reviewedOf(review);
  const name = `${review.run_name} #${run_id} at ${short(review.step)} steps: return ${score(review.episode_return)}`;
  return (
    <Stack gap="xs">
      <ReviewRibbon
        reviewed={reviewed}
        place={(decision) => (decision + 0.5) / Math.max(1, document.decisions)}
      />
      <Text size="sm" fw={600}>
        {summarize(review)}
      </Text>
      <ReviewFacts document={document} reviewed={reviewed} />
      <ul aria-label="Mistakes">
        {mistakesOf(reviewed).map((each) => (
          <li key={each.decision}>
            <Text size="sm">
              {capitalize(nameDecision(each.decision))}: {describeMistake(each)}
            </Text>
          </li>
        ))}
      </ul>
      <ReviewName run={run_id} replay={replay_id} name={name} signedIn={signedIn} />
    </Stack>
  );
}

interface ReviewNameProps {
  run: number;
  replay: number;
  name: string;
  signedIn: boolean;
}

/** Name of a reviewed replay, with a link to its review for readers who may open it. */
function ReviewName({ run, replay, name, signedIn }: ReviewNameProps) {
  if (!signedIn) return <Text size="sm">{name}</Text>;
  return (
    <Anchor component={Link} to={`/runs/${run}/replays?replays=${replay}&${REVIEW}=1`} size="sm">
      {name}
    </Anchor>
  );
}

interface PracticeViewProps {
  practice: ReportPractice;
  signedIn: boolean;
}

/** The verdict on practice in a report. */
export function PracticeView({ practice, signedIn }: PracticeViewProps) {
  const { run_id, run_name, replay_id, step, document } = practice;
  return (
    <Stack gap="xs">
      <PracticeVerdict document={document} />
      <ReviewName
        run={run_id}
        replay={replay_id}
        name={`${run_name} #${run_id} at ${short(step)} steps`}
        signedIn={signedIn}
      />
    </Stack>
  );
}
