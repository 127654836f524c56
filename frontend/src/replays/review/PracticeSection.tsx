import { Anchor, Button, Group, NumberInput, Text, Title } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";
import { useCancelJob, useDeleteJob } from "@/api/jobs";
import { practiceKeys, practicePreviewQuery, practicesQuery, useStartPractice } from "@/api/practices";
import { runKeys } from "@/api/runs";
import type { Practice, PracticeOptions, PracticePreview, Review } from "@/api/types";
import { bytes, duration, exact, plural, score, short } from "@/ui/format";
import { DeleteJob, JobStatus } from "@/ui/JobControls";
import { ForEditors, useMayEdit } from "@/ui/mayEdit";
import { QueryError } from "@/ui/QueryError";
import { MeasuredSoFar, PracticeVerdict } from "./PracticeVerdict";
import classes from "./practice.module.css";

const USUAL_SHARE = 50;

/** Section below a finished review: train the agent from its mistakes, and compare it with a control. */
export function PracticeSection({ review }: { review: Review }) {
  const query = useQuery(practicesQuery(review));
  const practice = query.data?.[0];
  const mayEdit = useMayEdit();
  if (!query.data)
    return query.isError ? <QueryError error={query.error} retry={() => void query.refetch()} /> : null;
  if (!practice && !mayEdit) return null;
  return (
    <section className={classes.section} aria-label="Practice">
      <Title order={3} size="sm">
        Practice
      </Title>
      {practice ? <Shown review={review} practice={practice} /> : <StartForm review={review} />}
    </section>
  );
}

/** Return what a practice would do and cost. */
export function describeCost(preview: PracticePreview): string {
  const { practiced, held_out, runs, steps, training_seconds, measuring_seconds, disk_bytes, reviews } =
    preview;
  const { smallest_improvement } = preview;
  const power =
    smallest_improvement === null
      ? ""
      : ` The mean outcome at the kept mistakes must rise by at least ${score(smallest_improvement)}, or no improvement is shown.`;
  const training =
    training_seconds === null
      ? "for an unknown time, because no run like this has trained here"
      : `for about ${duration(training_seconds)}`;
  return (
    `${plural(practiced, "mistake")} of ${plural(reviews, "review")} would be practiced, and ${held_out} kept to ` +
    `measure. ${plural(runs, "run")} train ${exact(steps)} steps each, together ${training}. Measuring takes ` +
    `about ${duration(measuring_seconds)}, and the checkpoints at most ${bytes(disk_bytes)}.${power}`
  );
}

function StartForm({ review }: { review: Review }) {
  const [share, setShare] = useState<number | string>(USUAL_SHARE);
  const [steps, setSteps] = useState<number | string>("");
  const [pairs, setPairs] = useState<number | string>(1);
  const options: Partial<PracticeOptions> = {
    share: Number(share) / 100,
    pairs: Number(pairs),
    ...(steps !== "" && { steps: Number(steps) }),
  };
  const [settled] = useDebouncedValue(JSON.stringify(options), 400, { leading: true });
  const preview = useQuery({
    ...practicePreviewQuery(review, JSON.parse(settled) as Partial<PracticeOptions>),
    placeholderData: keepPreviousData,
  });
  const start = useStartPractice(review);
  const refused = preview.error?.message ?? preview.data?.refused;
  return (
    <>
      <Text size="sm" c="dimmed" maw={640}>
        Does training from these mistakes repair them? Two runs continue from this checkpoint, with the same
        seed and the same steps. In one of them, a share of the episodes begins ten decisions before a
        mistake. Some mistakes are kept from it, to compare both agents.
      </Text>
      <div className={classes.form}>
        <NumberInput
          label="Share, %"
          size="xs"
          min={1}
          max={100}
          allowDecimal={false}
          value={share}
          onChange={setShare}
        />
        <NumberInput
          label="Steps of each run"
          size="xs"
          min={1}
          step={10_000}
          thousandSeparator=","
          allowDecimal={false}
          placeholder={preview.data && exact(preview.data.steps)}
          value={steps}
          onChange={setSteps}
        />
        <NumberInput
          label="Pairs: 1, or from 3"
          size="xs"
          min={1}
          max={100}
          allowDecimal={false}
          value={pairs}
          onChange={setPairs}
        />
      </div>
      <Text size="sm" aria-live="polite" maw={640}>
        {refused ?? (preview.data ? describeCost(preview.data) : "Reading the cost…")}
      </Text>
      <Group>
        <Button
          size="xs"
          loading={start.isPending}
          disabled={!preview.data || Boolean(refused)}
          onClick={() => start.mutate(options)}
        >
          Start practice
        </Button>
      </Group>
    </>
  );
}

function Shown({ review, practice }: { review: Review; practice: Practice }) {
  const start = useStartPractice(review);
  const stop = useCancelJob("practice", [practiceKeys.list(review), runKeys.lists]);
  const remove = useDeleteJob("practice", [practiceKeys.list(review)]);
  const { share, before, steps, pairs, evaluations, document } = practice;
  return (
    <>
      <JobStatus job={practice} kind={practice.stage} stop={stop}>
        <ForEditors>
          <Button
            size="compact-sm"
            variant="default"
            loading={start.isPending}
            onClick={() => start.mutate({ share, before, steps, pairs, evaluations })}
          >
            Continue
          </Button>
        </ForEditors>
      </JobStatus>
      {document ? (
        <PracticeVerdict document={document} />
      ) : (
        <>
          <Text size="sm" aria-live="polite">
            {describeProgress(practice)}
          </Text>
          <MeasuredSoFar practice={practice} />
        </>
      )}
      <Runs practice={practice} />
      <Group>
        <DeleteJob job={practice} mutation={remove}>
          Delete practice
        </DeleteJob>
      </Group>
    </>
  );
}

/** Return what a practice does, and what is known so far. */
export function describeProgress({ practiced, held_out, steps, share = 0 }: Practice): string {
  if (practiced === null)
    return "A worker plays the reviewed episodes again, and chooses the mistakes to practice.";
  return (
    `${plural(practiced, "mistake")} practiced in ${Math.round(100 * share)} % of the episodes, ${held_out} kept to ` +
    `measure. Each run trains ${short(steps)} steps. Then a worker measures what both agents do.`
  );
}

function Runs({ practice: { arms, pairs = 1 } }: { practice: Practice }) {
  const linked = arms.filter(({ run_id }) => run_id !== null);
  if (linked.length === 0) return null;
  return (
    <Group
      gap="md"
      component="ul"
      m={0}
      p={0}
      style={{ listStyle: "none" }}
      aria-label="Runs of the practice"
    >
      {linked.map(({ name, pair, run_id, state }) => (
        <li key={run_id}>
          <Anchor component={Link} to={`/runs/${run_id}`} size="sm">
            {name === "practice" ? "Practice" : "Control"}
            {pairs > 1 && ` ${pair}`}: run {run_id}, {state}
          </Anchor>
        </li>
      ))}
    </Group>
  );
}
