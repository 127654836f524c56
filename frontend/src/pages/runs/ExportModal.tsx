import { Anchor, List, Modal, ScrollArea, SegmentedControl, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { archiveAddress, type FilesChoice, MAX_ARCHIVED_RUNS } from "@/api/archives";
import { exact, plural } from "@/ui/format";

const FILES: { value: FilesChoice; label: string }[] = [
  { value: "all", label: "All files" },
  { value: "best", label: "Best checkpoints" },
  { value: "none", label: "No files" },
];

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
