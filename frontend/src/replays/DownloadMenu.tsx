import { Button, Code, Menu, Text } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { useState } from "react";
import { fileAddress } from "@/api/client";
import { useMayWrite } from "@/api/projects";
import { AddToReport } from "@/charts/AddToReport";
import type { PlayableReplay } from "./places";

/** Menu of a replay: download its files, copy notebook code for its track, or add it to a report. */
export function DownloadMenu({ replay }: { replay: PlayableReplay }) {
  const files: [string, number | null][] = [
    ["Replay (.mp4)", replay.file_id],
    ["Network input (.mp4)", replay.seen_file_id],
    ["Track (.npz)", replay.track_file_id],
  ];
  const [adding, setAdding] = useState(false);
  const mayWrite = useMayWrite();
  return (
    <>
      <Menu>
        <Menu.Target>
          <Button size="xs" variant="default" leftSection={<IconDownload size={14} aria-hidden />}>
            Download
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {files.map(([name, id]) =>
            id === null ? null : (
              <Menu.Item key={name} component="a" href={fileAddress(id)} download>
                {name}
              </Menu.Item>
            ),
          )}
          {mayWrite && <Menu.Item onClick={() => setAdding(true)}>Add to report…</Menu.Item>}
          {replay.track_file_id !== null && (
            <Text size="xs" c="dimmed" px="sm" py={4} maw={300} component="div" role="presentation">
              In a notebook: <Code>numpy.load("track.npz")["value"]</Code>
            </Text>
          )}
        </Menu.Dropdown>
      </Menu>
      <AddToReport
        block={{ kind: "replay", replay: replay.id, caption: "" }}
        opened={adding}
        onClose={() => setAdding(false)}
      />
    </>
  );
}
