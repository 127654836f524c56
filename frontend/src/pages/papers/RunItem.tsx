import { Button, Checkbox, Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useStartPaperItem } from "@/api/mutations";
import { paperPreviewQuery } from "@/api/studies";
import type { PaperItem } from "@/api/types";
import { ConfirmModal } from "@/ui/ConfirmModal";
import { plural, short } from "@/ui/format";
import { QueryProblem } from "@/ui/QueryProblem";
import classes from "./papers.module.css";
import { ownParts, partCost, type Share, SHARES } from "./words";

/** Which parts to run, and buttons for how much of their budget. */
export function RunItem({ item }: { item: PaperItem }) {
  const [parts, setParts] = useState(ownParts(item));
  const [share, setShare] = useState<Share | null>(null);
  return (
    <section className={classes.card} aria-label="Run it">
      <Stack gap="sm">
        <Checkbox.Group
          label="Run it here"
          description="Each part is a study. In full it takes:"
          value={parts}
          onChange={setParts}
        >
          <Stack gap={8} mt="xs">
            {item.parts.map((part) => (
              <Checkbox
                key={part.name}
                size="sm"
                value={part.name}
                label={part.stands_in ? `${part.title} (stands in, quick to run)` : part.title}
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
              variant={each === 0.01 ? "filled" : "default"}
              disabled={parts.length === 0}
              onClick={() => setShare(each)}
            >
              {name}
            </Button>
          ))}
          {parts.length === 0 && (
            <Text size="xs" c="dimmed">
              Choose a part first.
            </Text>
          )}
        </Group>
      </Stack>
      {share !== null && <AskFirst item={item} parts={parts} share={share} onClose={() => setShare(null)} />}
    </section>
  );
}

interface AskFirstProps {
  item: PaperItem;
  parts: string[];
  share: Share;
  onClose: () => void;
}

/** What it costs, before anything is started. */
function AskFirst({ item, parts, share, onClose }: AskFirstProps) {
  const preview = useQuery(paperPreviewQuery(item.paper, item.name, { share, parts }));
  const start = useStartPaperItem(item.paper, item.name);
  const { data } = preview;
  const refused = data?.refused ?? null;
  const startable = refused === null && !preview.isError;
  return (
    <ConfirmModal
      opened
      title={`Run ${item.label.toLowerCase()} at ${share * 100} % of its budget?`}
      action={startable ? `Start ${plural(parts.length, "study", "studies")}` : "Close"}
      busy={start.isPending || preview.isPending}
      onClose={onClose}
      onConfirm={() => (startable ? start.mutate({ share, parts }, { onSuccess: onClose }) : onClose())}
    >
      {preview.isPending && <Text size="sm">Counting its runs…</Text>}
      {preview.isError && <QueryProblem error={preview.error} retry={() => void preview.refetch()} />}
      {data && (
        <Text size="sm">
          {partCost(data)}: {short(data.steps, "steps")} in all. Its runs give way to single runs.
        </Text>
      )}
      {refused && (
        <Text size="sm" mt="xs" c="var(--mantine-color-error)" role="alert">
          This is refused: {refused}.
        </Text>
      )}
    </ConfirmModal>
  );
}
