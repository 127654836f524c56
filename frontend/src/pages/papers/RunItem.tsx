import { Alert, Anchor, Box, Button, Checkbox, Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";
import { paperPreviewQuery, useMeasurePaperItem, useStartPaperItem } from "@/api/papers";
import type { PaperItem, PaperPreview } from "@/api/types";
import { ConfirmCost } from "@/ui/ConfirmCost";
import { ConfirmModal } from "@/ui/ConfirmModal";
import { useCurrentProject } from "@/ui/currentProject";
import { duration, lowerCaseLabel, plural, short, toSentence } from "@/ui/format";
import { QueryError } from "@/ui/QueryError";
import classes from "./papers.module.css";

/** Form to choose parts and the share of their budget. */
export function RunItem({ item }: { item: PaperItem }) {
  const [parts, setParts] = useState(ownParts(item));
  const [share, setShare] = useState<Share | null>(null);
  const suggested = suggestedShare(item, parts);
  return (
    <section className={classes.card} aria-label="Run it">
      <Stack gap="sm">
        <Checkbox.Group
          label="Run it here"
          description="Each part is a study. Full cost:"
          value={parts}
          onChange={setParts}
        >
          <Stack gap={8} mt="xs">
            {item.parts.map((part) => (
              <Checkbox
                key={part.name}
                size="sm"
                value={part.name}
                label={part.stands_in ? `${part.title} (quick substitute)` : part.title}
                description={partCost(part.cost)}
              />
            ))}
          </Stack>
        </Checkbox.Group>
        <Group gap="xs">
          {SHARES.map(({ share: each, name }) => (
            <Button
              key={each}
              size="xs"
              variant={each === suggested ? "filled" : "default"}
              disabled={parts.length === 0}
              onClick={() => setShare(each)}
            >
              {name}
            </Button>
          ))}
          {parts.length === 0 && (
            <Text size="xs" c="dimmed">
              Choose at least one part.
            </Text>
          )}
        </Group>
        {parts.length > 0 && suggested > 0.01 && (
          <Text size="xs" c="dimmed">
            {`${suggested * 100} % is the smallest share with meaningful results.`}
          </Text>
        )}
        <MeasureDuration item={item} parts={parts} />
      </Stack>
      {share !== null && (
        <ConfirmRun item={item} parts={parts} share={share} onClose={() => setShare(null)} />
      )}
    </section>
  );
}

/** Button that measures how long the chosen parts take, if unknown. */
function MeasureDuration({ item, parts }: { item: PaperItem; parts: string[] }) {
  const measure = useMeasurePaperItem(item.paper, item.name);
  const unknown = item.parts.filter(({ name, cost }) => parts.includes(name) && cost.seconds === null);
  if (unknown.length === 0) return null;
  const names = unknown.map(({ name }) => name);
  return (
    <Group gap="xs">
      <Button size="xs" variant="default" loading={measure.isPending} onClick={() => measure.mutate(names)}>
        Measure duration
      </Button>
      <Text size="xs" c="dimmed" role="status">
        {measure.data === undefined && "Trains each method for 30 seconds."}
        {measure.data?.length === 0 && "Measurement is already running."}
        {measure.data?.map(({ run_id, kind }) => (
          <Anchor key={run_id} component={Link} to={`/runs/${run_id}`} size="xs" mr="xs">
            Measuring {kind}
          </Anchor>
        ))}
      </Text>
    </Group>
  );
}

interface ConfirmRunProps {
  item: PaperItem;
  parts: string[];
  share: Share;
  onClose: () => void;
}

/** Cost, before anything is started. */
function ConfirmRun({ item, parts, share, onClose }: ConfirmRunProps) {
  const preview = useQuery(paperPreviewQuery(item.paper, item.name, { share, parts }));
  const start = useStartPaperItem(item.paper, item.name);
  const project = useCurrentProject();
  const [confirmed, setConfirmed] = useState(false);
  const { data } = preview;
  const refused = data?.refused ?? null;
  const startable = refused === null && !preview.isError;
  const unconfirmed = startable && Boolean(data?.confirm) && !confirmed;
  const confirm_steps = data?.confirm ? data.steps : null;
  return (
    <ConfirmModal
      opened
      title={`Run ${lowerCaseLabel(item.label)} at ${share * 100} % of its budget?`}
      action={startable ? `Start ${plural(parts.length, "study", "studies")}` : "Close"}
      busy={start.isPending || preview.isPending}
      disabled={unconfirmed}
      onClose={onClose}
      onConfirm={() =>
        startable
          ? start.mutate({ share, parts, confirm_steps, ...(project && { project }) }, { onSuccess: onClose })
          : onClose()
      }
    >
      {preview.isPending && <Text size="sm">Counting runs…</Text>}
      {preview.isError && <QueryError error={preview.error} retry={() => void preview.refetch()} />}
      {data && (
        <Text size="sm">
          {partCost(data)}: {short(data.steps, "steps")} in total. Single runs start first.
        </Text>
      )}
      {data?.too_short && (
        <Alert variant="light" color="yellow" p="xs" mt="xs">
          <Text size="sm">{toSentence(data.too_short)}</Text>
        </Alert>
      )}
      {data && !refused && (
        <Box mt="sm">
          <ConfirmCost cost={data} confirmed={confirmed} onChange={setConfirmed} />
        </Box>
      )}
      {refused && (
        <Text size="sm" mt="xs" c="var(--mantine-color-error)" role="alert">
          Too large: {refused}.
        </Text>
      )}
    </ConfirmModal>
  );
}

/** Shares of a budget with their button labels. */
const SHARES = [
  { share: 0.01, name: "Run at 1 %" },
  { share: 0.1, name: "Run at 10 %" },
  { share: 1, name: "Run all" },
] as const;

type Share = number;

type Cost = Pick<
  PaperPreview,
  "runs" | "frames" | "seconds" | "concurrent_runs" | "unmeasured" | "estimated"
>;

/** Return the cost of a part: "50 runs, 16 G frames, about 31 h on 1 worker". */
function partCost({ runs, frames, seconds, concurrent_runs, unmeasured, estimated }: Cost): string {
  const cost = `${plural(runs, "run")}, ${short(frames, "frames")}`;
  if (seconds !== null) {
    const rough = estimated.length > 0 ? ", estimated from similar environments" : "";
    return `${cost}, about ${duration(seconds)} on ${plural(concurrent_runs, "worker")}${rough}`;
  }
  return `${cost}. Duration unknown: no run of ${namesOf(unmeasured)} has trained here`;
}

const MAX_NAMED = 3;

/** Return some of the names: "A3C on Pong or A3C on Breakout or 5 more kinds". */
function namesOf(kinds: string[]): string {
  const more = kinds.length - MAX_NAMED;
  const named = kinds.slice(0, MAX_NAMED);
  return [...named, ...(more > 0 ? [plural(more, "more kind", "more kinds")] : [])].join(" or ");
}

/** Return the smallest share at which all of these parts give meaningful results. */
function suggestedShare(item: PaperItem, parts: string[]): Share {
  const chosen = item.parts.filter(({ name }) => parts.includes(name));
  return Math.max(0.01, ...chosen.map(({ suggested_share }) => suggested_share));
}

function ownParts(item: PaperItem): string[] {
  return item.parts.filter((part) => !part.stands_in).map(({ name }) => name);
}
