import { Stack } from "@mantine/core";
import type { Run } from "@/api/types";
import { ReplaysTab } from "@/replays/ReplaysTab";
import { RecordingsList } from "./RecordingsList";

/** Replays of a run, with the requested recordings above them. */
export function ReplaysPage({ run }: { run: Run }) {
  return (
    <Stack gap="sm">
      <RecordingsList run={run} />
      <ReplaysTab run={run} />
    </Stack>
  );
}
