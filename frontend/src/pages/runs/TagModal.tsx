import { Group, Progress, SegmentedControl, Stack, TagsInput, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { facetsQuery } from "@/api/runs";
import { ConfirmModal } from "@/ui/ConfirmModal";
import { exact, plural } from "@/ui/format";
import { normalizeTags } from "@/ui/tags";

const MODES = [
  { value: "tag", label: "Add tags" },
  { value: "untag", label: "Remove tags" },
] as const;

interface TagModalProps {
  /** Number of runs. */
  count: number;
  /** Tags that these runs have. */
  used: readonly string[];
  archived: boolean;
  onClose: () => void;
  /** Change the tags, and close the dialog. Errors are shown here. */
  onApply: (action: "tag" | "untag", tags: string[], onProgress: (handled: number) => void) => Promise<void>;
}

/** Dialog that adds tags to runs, or removes them. */
export function TagModal({ count, used, archived, onClose, onApply }: TagModalProps) {
  const [action, setAction] = useState<"tag" | "untag">("tag");
  const [tags, setTags] = useState<string[]>([]);
  const [handled, setHandled] = useState(0);
  const { data: facets } = useQuery(facetsQuery(archived));
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const choices = action === "untag" ? used : (facets?.tag.map(({ value }) => value) ?? []);
  const title = `${action === "tag" ? "Tag" : "Remove tags of"} ${plural(count, "run")}`;

  async function submit() {
    setHandled(0);
    setBusy(true);
    setError(null);
    try {
      await onApply(action, tags, setHandled);
    } catch (failure) {
      // Tagging the same runs again has no further effect.
      setError(failure instanceof Error ? failure.message : String(failure));
      setBusy(false);
    }
  }

  return (
    <ConfirmModal
      opened
      title={title}
      action={action === "tag" ? "Add tags" : "Remove tags"}
      disabled={tags.length === 0}
      busy={isBusy}
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
          data={[...choices]}
          value={tags}
          onChange={(next) => setTags(normalizeTags(next))}
        />
        {action === "untag" && used.length === 0 && (
          <Text size="sm" c="dimmed">
            None of these runs has a tag.
          </Text>
        )}
        {isBusy && handled > 0 && (
          <div>
            <Progress value={(100 * handled) / count} aria-label="Progress" />
            <Text size="xs" c="dimmed" role="status">
              {exact(handled)} of {plural(count, "run")}
            </Text>
          </div>
        )}
        {error !== null && (
          <Text size="sm" c="var(--mantine-color-error)" role="alert">
            {error} {handled > 0 && `${plural(handled, "run")} done so far. `}Try again.
          </Text>
        )}
      </Stack>
    </ConfirmModal>
  );
}
