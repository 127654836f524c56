import { Text, Title } from "@mantine/core";
import { fileAddress } from "@/api/client";
import type { ReviewDocument, ReviewedDecision } from "@/api/types";
import { plural, score } from "@/ui/format";
import { middleOf } from "../clock";
import { nameDecision } from "../futures/words";
import type { PlayableReplay } from "../places";
import type { Thoughts } from "../track";
import classes from "./review.module.css";
import { describeCost, describeSelection, mistakesOf, sumOfLosses } from "./words";

interface SummaryProps {
  replay: PlayableReplay;
  thoughts: Thoughts;
  document: ReviewDocument;
  reviewed: readonly ReviewedDecision[];
  pixelated: boolean;
  onChoose: (decision: number) => void;
}

/** What the mistakes cost, which decisions were looked at, and what the review cost. */
export function ReviewFacts({ document, reviewed }: Pick<SummaryProps, "document" | "reviewed">) {
  const mistakes = mistakesOf(reviewed);
  return (
    <>
      <dl className={classes.facts}>
        <div>
          <dt>Lost to mistakes</dt>
          <dd>{mistakes.length > 0 ? `up to ${score(sumOfLosses(mistakes))}` : "nothing shown"}</dd>
        </div>
        <div>
          <dt>Chosen</dt>
          <dd>{describeSelection(reviewed, document.decisions)}</dd>
        </div>
        <div>
          <dt>Cost</dt>
          <dd>{describeCost(document)}</dd>
        </div>
      </dl>
      {mistakes.length > 1 && (
        <Text size="xs" c="dimmed" maw={640}>
          “Up to”, because losses overlap: each one assumes that the agent then continues as it does, and one
          mistake may lead to the next. Each has a 95 % interval.
        </Text>
      )}
    </>
  );
}

/** The facts about a review, and its mistakes by situation. */
export function Summary({ replay, thoughts, document, reviewed, pixelated, onChoose }: SummaryProps) {
  const situations = (document.situations ?? []).filter(({ decisions }) => decisions.length > 1);
  return (
    <div className={classes.summary}>
      <ReviewFacts document={document} reviewed={reviewed} />
      {situations.length > 0 && (
        <section aria-label="Situations">
          <Title order={3} size="sm" mb={4}>
            Similar situations
          </Title>
          <ul className={classes.situations}>
            {situations.map(({ decisions, shown }) => {
              const lost = sumOfLosses(reviewed.filter(({ decision }) => decisions.includes(decision)));
              return (
                <li key={shown}>
                  <button type="button" className={classes.situation} onClick={() => onChoose(shown)}>
                    <video
                      src={fileAddress(replay.file_id)}
                      muted
                      playsInline
                      preload="metadata"
                      aria-hidden
                      tabIndex={-1}
                      className={pixelated ? "pixelated" : undefined}
                      onLoadedMetadata={({ currentTarget }) => {
                        const { picture, head } = thoughts;
                        currentTarget.currentTime = middleOf(picture[shown] ?? 0, head.pictures_per_second);
                      }}
                    />
                    <span>
                      {plural(decisions.length, "mistake")}
                      <Text component="span" size="xs" c="dimmed" display="block">
                        up to {score(lost)} lost, such as {nameDecision(shown)}
                      </Text>
                    </span>
                  </button>
                </li>
              );
            })}
          </ul>
        </section>
      )}
    </div>
  );
}
