import { Group, Progress, SegmentedControl, Stack, TagsInput, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useBulkAction } from "@/api/runActions";
import { facetsQuery } from "@/api/runs";
import type { BulkResult, ListedRun } from "@/api/types";
import { ConfirmModal } from "@/ui/ConfirmModal";
import { exact, plural } from "@/ui/format";
import { notifyDone } from "@/ui/notify";
import { normalizeTags } from "@/ui/tags";

const MODES = [
  { value: "tag", label: "Add tags" },
  { value: "untag", label: "Remove tags" },
] as const;

interface TagModalProps {
  runs: readonly ListedRun[];
  archived: boolean;
  onClose: () => void;
  onSkipped: (skipped: BulkResult["skipped"]) => void;
}

/** Dialog that adds tags to runs, or removes them. */
export function TagModal({ runs, archived, onClose, onSkipped }: TagModalProps) {
  const [action, setAction] = useState<"tag" | "untag">("tag");
  const [tags, setTags] = useState<string[]>([]);
  const [handled, setHandled] = useState(0);
  const { data: facets } = useQuery(facetsQuery(archived));
  const bulk = useBulkAction();
  const used = [...new Set(runs.flatMap((run) => run.tags))].sort();
  const choices = action === "untag" ? used : (facets?.tag.map(({ value }) => value) ?? []);
  const title = `${action === "tag" ? "Tag" : "Remove tags of"} ${plural(runs.length, "run")}`;

  async function submit() {
    setHandled(0);
    try {
      const ids = runs.map(({ id }) => id);
      const { done, skipped } = await bulk.mutateAsync({ action, ids, tags, onProgress: setHandled });
      notifyDone(`${plural(done.length, "run")} ${action === "tag" ? "tagged" : "changed"}.`);
      onSkipped(skipped);
      onClose();
    } catch {
      // The dialog shows the error. Tagging the same runs again has no further effect.
    }
  }

  return (
    <ConfirmModal
      opened
      title={title}
      action={action === "tag" ? "Add tags" : "Remove tags"}
      disabled={tags.length === 0}
      busy={bulk.isPending}
      onConfirm={() => void submit()}
      onClose={onClose}
    >
      <Stack gap="sm">
        <Group>
          <SegmentedControl
            size="xs"
            aria-label="What to do with the tags"
            data={[...MODES]}
            value={action}
            onChange={(value) => {
              setAction(value === "untag" ? "untag" : "tag");
              setTags([]);
            }}
          />
        </Group>
        <TagsInput
          label="Tags"
          data-autofocus
          openOnFocus={false}
          placeholder={tags.length === 0 ? "Type a tag and press Enter" : undefined}
          data={choices}
          value={tags}
          onChange={(next) => setTags(normalizeTags(next))}
        />
        {action === "untag" && used.length === 0 && (
          <Text size="sm" c="dimmed">
            None of these runs has a tag.
          </Text>
        )}
        {bulk.isPending && (
          <div>
            <Progress value={(100 * handled) / runs.length} aria-label="Progress" />
            <Text size="xs" c="dimmed" role="status">
              {exact(handled)} of {plural(runs.length, "run")}
            </Text>
          </div>
        )}
        {bulk.error && (
          <Text size="sm" c="var(--mantine-color-error)" role="alert">
            {bulk.error.message} {handled > 0 && `${plural(handled, "run")} done so far. `}Try again.
          </Text>
        )}
      </Stack>
    </ConfirmModal>
  );
}
