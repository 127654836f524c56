import { Group, NumberInput, Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { videosQuery } from "@/api/queries";
import { blockQuery, OWN_SHELF } from "@/api/reports";
import type { ReportBlock } from "@/api/types";
import { score, short } from "@/ui/format";

type ReplayBlock = ReportBlock & { kind: "replay" };

interface ReplayFieldsProps {
  block: ReplayBlock;
  onChange: (block: ReplayBlock) => void;
}

/** Which replay of which run. */
export function ReplayFields({ block, onChange }: ReplayFieldsProps) {
  const shown = useQuery({
    ...blockQuery(OWN_SHELF, { ...block, caption: "" }, 0),
    enabled: block.video > 0,
  });
  const [written, setWritten] = useState<number | null>(null);
  const run = written ?? shown.data?.replay?.run_id ?? 0;
  const videos = useQuery({ ...videosQuery(run), enabled: run > 0 });
  const choices = (videos.data ?? []).filter(({ file_id }) => file_id !== null);
  return (
    <Group gap="xs" align="start" grow preventGrowOverflow={false}>
      <NumberInput
        label="Number of the run"
        min={1}
        allowDecimal={false}
        value={run > 0 ? run : ""}
        error={videos.error?.message}
        onChange={(value) => setWritten(typeof value === "number" ? value : 0)}
      />
      <Select
        label="Replay"
        description="It is pinned, so that it stays while the run goes on."
        placeholder={run > 0 && videos.data && choices.length === 0 ? "The run has no replays" : "Choose one"}
        data={choices.map((video) => ({
          value: String(video.id),
          label: `At ${short(video.step)} steps: return ${score(video.episode_return)}`,
        }))}
        value={block.video > 0 ? String(block.video) : null}
        onChange={(video) => onChange({ ...block, video: Number(video ?? 0) })}
      />
    </Group>
  );
}
