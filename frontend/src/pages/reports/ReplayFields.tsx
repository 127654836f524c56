import { Group, Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { comparisonQuery } from "@/api/comparisons";
import { replaysQuery } from "@/api/replays";
import { blockQuery, SIGNED_IN_SOURCE } from "@/api/reports";
import type { ReportBlock, Replay } from "@/api/types";
import { score, short } from "@/ui/format";
import { Thumbnail } from "@/ui/Thumbnail";
import { RunsField } from "@/charts/fields/RunsField";

type ReplayBlock = ReportBlock & { kind: "replay" | "review" | "practice" };

interface ReplayFieldsProps {
  block: ReplayBlock;
  onChange: (block: ReplayBlock) => void;
}

/** Fields to choose a run and one of its replays. */
export function ReplayFields({ block, onChange }: ReplayFieldsProps) {
  const shown = useQuery({
    ...blockQuery(SIGNED_IN_SOURCE, { ...block, caption: "" }, 0),
    enabled: block.replay > 0,
  });
  // Null until the author changes the run. Until then the replay names it.
  const [picked, setPicked] = useState<number[] | null>(null);
  const run = shown.data?.replay?.run_id ?? shown.data?.review?.run_id ?? shown.data?.practice?.run_id;
  const runs = picked ?? (run === undefined ? [] : [run]);
  const compared = useQuery(comparisonQuery(runs, [], false)).data;
  const pick = (next: number[]) => {
    setPicked(next);
    if (next[0] !== runs[0]) onChange({ ...block, replay: 0 });
  };
  return (
    <>
      <RunsField single runs={runs} known={compared?.runs ?? []} onChange={pick} />
      {runs[0] !== undefined && (
        <Replays run={runs[0]} replay={block.replay} onPick={(replay) => onChange({ ...block, replay })} />
      )}
    </>
  );
}

interface ReplaysProps {
  run: number;
  replay: number;
  onPick: (replay: number) => void;
}

/** List of a run's replays with pictures, the newest first. */
function Replays({ run, replay, onPick }: ReplaysProps) {
  const videos = useQuery(replaysQuery(run));
  const choices = (videos.data ?? [])
    .filter(({ file_id }) => file_id !== null)
    .sort((a, b) => b.step - a.step);
  const none = videos.data && choices.length === 0;
  return (
    <Select
      label="Replay"
      description="A chosen replay is pinned and never pruned."
      placeholder={none ? "No replays yet" : "Choose a replay"}
      error={videos.error?.message}
      searchable
      data={choices.map((choice) => ({ value: String(choice.id), label: labelOf(choice) }))}
      value={replay > 0 ? String(replay) : null}
      onChange={(id) => onPick(Number(id ?? 0))}
      renderOption={({ option }) => {
        const choice = choices.find(({ id }) => String(id) === option.value);
        return (
          <Group gap="sm" wrap="nowrap">
            <Thumbnail fileId={choice?.poster_file_id ?? null} size={48} alt="" />
            {option.label}
          </Group>
        );
      }}
      maxDropdownHeight={320}
    />
  );
}

const labelOf = ({ step, episode_return }: Replay) =>
  `At ${short(step)} steps: return ${score(episode_return)}`;
