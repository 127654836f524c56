import { Anchor, Button, Group, List, Modal, ScrollArea, SegmentedControl, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { archiveAddress, type FilesChoice, MAX_ARCHIVED_RUNS, runTableAddress } from "@/api/archives";
import type { FailuresQuery } from "@/api/runs";
import type { ListedRun } from "@/api/types";
import { exact, plural } from "@/ui/format";

const FILES: { value: FilesChoice; label: string }[] = [
  { value: "all", label: "All files" },
  { value: "best", label: "Best checkpoints" },
  { value: "none", label: "No files" },
];

interface MatchesExportProps {
  matches: FailuresQuery;
  count: number;
  excluded: readonly ListedRun[];
  onClose: () => void;
}

/** Dialog with the table of all matching runs as a file. An archive has the data of fewer runs. */
export function MatchesExport({ matches, count, excluded, onClose }: MatchesExportProps) {
  const exclude = excluded.map(({ id }) => id);
  return (
    <Modal
      opened
      onClose={onClose}
      title={`Export ${plural(count, "run")}`}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      <Stack gap="sm">
        <Text size="sm">
          One line for each run with its state, numbers, tags and settings, in the order of the run numbers.
        </Text>
        <Group gap="xs">
          <Button component="a" download href={runTableAddress("csv", { ...matches, exclude })}>
            CSV
          </Button>
          <Button
            component="a"
            download
            variant="default"
            href={runTableAddress("jsonl", { ...matches, exclude })}
          >
            JSON lines
          </Button>
        </Group>
        <Text size="sm" c="dimmed">
          To save curves, checkpoints and replays too, select up to {exact(MAX_ARCHIVED_RUNS)} runs for an
          archive file.
        </Text>
      </Stack>
    </Modal>
  );
}

interface ExportModalProps {
  ids: readonly number[];
  onClose: () => void;
}

/** Dialog with the archive files of many runs. The browser shows the progress of each download. */
export function ExportModal({ ids, onClose }: ExportModalProps) {
  const [files, setFiles] = useState<FilesChoice>("best");
  const parts = Array.from({ length: Math.ceil(ids.length / MAX_ARCHIVED_RUNS) }, (_, at) =>
    ids.slice(at * MAX_ARCHIVED_RUNS, (at + 1) * MAX_ARCHIVED_RUNS),
  );
  return (
    <Modal
      opened
      onClose={onClose}
      title={`Export ${plural(ids.length, "run")}`}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      <Stack gap="sm">
        <SegmentedControl
          size="xs"
          aria-label="Files in the archives"
          data={FILES}
          value={files}
          onChange={(value) => setFiles(FILES.find((choice) => choice.value === value)?.value ?? files)}
        />
        <Text size="sm">
          {parts.length > 1 &&
            `An archive has at most ${plural(MAX_ARCHIVED_RUNS, "run")}, so there are several. `}
          {files === "best" && "They contain the best and the newest checkpoint of each run."}
          {files === "all" && "They contain all checkpoints and replays, so they may be large."}
          {files === "none" && "They contain settings and curves without checkpoints and replays."}
        </Text>
        <ScrollArea.Autosize mah={320}>
          <List size="sm" spacing={4}>
            {parts.map((part, at) => (
              <List.Item key={at}>
                <Anchor href={archiveAddress({ runs: part }, files)} download size="sm">
                  {parts.length > 1 ? `Part ${at + 1}: runs` : "Runs"} {exact(at * MAX_ARCHIVED_RUNS + 1)} to{" "}
                  {exact(at * MAX_ARCHIVED_RUNS + part.length)} of {exact(ids.length)}
                </Anchor>
              </List.Item>
            ))}
          </List>
        </ScrollArea.Autosize>
      </Stack>
    </Modal>
  );
}
