import { Stack } from "@mantine/core";
import type { Run } from "@/api/types";
import { ReplaysTab } from "@/replays/ReplaysTab";
import { RecordingsList } from "./RecordingsList";

/** The run's replays, below the recordings that are still to become some. */
export function ReplaysPage({ run }: { run: Run }) {
  return (
    <Stack gap="sm">
      <RecordingsList run={run} />
      <ReplaysTab run={run} />
    </Stack>
  );
}
