import { ActionIcon, Group, MultiSelect, Select, Stack, Textarea, TextInput, Title } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconArrowDown, IconArrowUp, IconTrash } from "@tabler/icons-react";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { comparisonQuery } from "@/api/comparisons";
import { replaysQuery } from "@/api/replays";
import { blockQuery, SIGNED_IN_SOURCE } from "@/api/reports";
import { runQuery } from "@/api/runs";
import { studiesQuery } from "@/api/studies";
import type { Replay, ReportBlock } from "@/api/types";
import { ChartFields } from "@/charts/fields/ChartFields";
import { RunsField } from "@/charts/fields/RunsField";
import { score, short } from "@/ui/format";
import { FormErrors } from "@/ui/FormErrors";
import { Thumbnail } from "@/ui/Thumbnail";
import { BlockView } from "./BlockView";
import { lackOf, nameOf, titleOfKind } from "./draft";
import classes from "./reports.module.css";

const PREVIEW_MS = 400;

interface BlockEditorProps {
  /** Id of its section on the page. */
  id: string;
  block: ReportBlock;
  place: number;
  last: boolean;
  /** Errors from the server. */
  problems: string[];
  onChange: (block: ReportBlock) => void;
  onMove: (by: -1 | 1) => void;
  onDelete: () => void;
}

/** Editor of one block with a preview. */
export function BlockEditor(props: BlockEditorProps) {
  const { id, block, place, last, problems, onMove, onDelete } = props;
  const name = nameOf(block, place);
  const [shown] = useDebouncedValue(block, PREVIEW_MS);
  return (
    <section id={id} tabIndex={-1} className={classes.card} aria-label={name}>
      <Group justify="space-between" wrap="nowrap">
        <Title order={2} size="h4">
          {titleOfKind(block)}
        </Title>
        <Group gap={4} wrap="nowrap">
          <ActionIcon aria-label={`Move up: ${name}`} disabled={place === 0} onClick={() => onMove(-1)}>
            <IconArrowUp size={16} aria-hidden />
          </ActionIcon>
          <ActionIcon aria-label={`Move down: ${name}`} disabled={last} onClick={() => onMove(1)}>
            <IconArrowDown size={16} aria-hidden />
          </ActionIcon>
          <ActionIcon aria-label={`Delete: ${name}`} onClick={onDelete}>
            <IconTrash size={16} aria-hidden />
          </ActionIcon>
        </Group>
      </Group>
      <Stack gap="xs" mt={4}>
        <Fields {...props} />
        <FormErrors messages={problems} />
        {lackOf(block) === null && shown.kind === block.kind && lackOf(shown) === null && (
          <BlockView source={SIGNED_IN_SOURCE} block={withoutCaption(shown)} place={place} />
        )}
      </Stack>
    </section>
  );
}

function Fields({ block, onChange }: BlockEditorProps) {
  if (block.kind === "text")
    return (
      <Textarea
        label="Markdown"
        description="# Heading, - list, | table |, `code`, **bold**, *italic*, ~~struck~~, [link](https://…), formula $x^2$ or $$…$$. Images must be stored in Arcadia: ![words](/api/v1/files/7). Other images show only their text. HTML stays text."
        autosize
        minRows={3}
        maxLength={20_000}
        value={block.markdown}
        onChange={(event) => onChange({ ...block, markdown: event.currentTarget.value })}
      />
    );
  return (
    <>
      {block.kind === "chart" && (
        <ChartFields address={block.address} onChange={(address) => onChange({ ...block, address })} />
      )}
      {block.kind === "table" && <TableFields block={block} onChange={onChange} />}
      {(block.kind === "replay" || block.kind === "review" || block.kind === "practice") && (
        <ReplayFields block={block} onChange={onChange} />
      )}
      <TextInput
        label="Caption"
        maxLength={500}
        value={block.caption}
        onChange={(event) => onChange({ ...block, caption: event.currentTarget.value })}
      />
    </>
  );
}

/** Remove the caption from the preview, so that typing it fetches nothing. */
function withoutCaption(block: ReportBlock): ReportBlock {
  return block.kind === "text" ? block : { ...block, caption: "" };
}

type ReplayBlock = ReportBlock & { kind: "replay" | "review" | "practice" };

interface ReplayFieldsProps {
  block: ReplayBlock;
  onChange: (block: ReplayBlock) => void;
}

/** Fields to choose a run and one of its replays. */
function ReplayFields({ block, onChange }: ReplayFieldsProps) {
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

type TableBlock = ReportBlock & { kind: "table" };

/** Limit of the server. */
const MAX_ROWS = 50;

const KINDS: { value: TableBlock["of"]; label: string }[] = [
  { value: "runs", label: "Runs" },
  { value: "evaluations", label: "Evaluations of runs" },
  { value: "study", label: "Points of a study" },
];

const COLUMNS = [
  { value: "name", label: "Run" },
  { value: "method", label: "Method" },
  { value: "env", label: "Game" },
  { value: "state", label: "State" },
  { value: "step", label: "Steps" },
  { value: "frames", label: "Frames" },
  { value: "episodes", label: "Episodes" },
  { value: "last_return", label: "Last return" },
  { value: "best_return", label: "Best return" },
  { value: "steps_per_second", label: "Steps/s" },
];

interface TableFieldsProps {
  block: TableBlock;
  onChange: (block: TableBlock) => void;
}

/** Fields to choose the content and the columns of a table. */
function TableFields({ block, onChange }: TableFieldsProps) {
  const runs = block.of === "study" ? [] : block.numbers;
  const compared = useQuery(comparisonQuery(runs, [], false)).data;
  const first = block.of === "study" ? undefined : block.numbers[0];
  const run = useQuery({ ...runQuery(first ?? 0), enabled: first !== undefined && block.of === "runs" });
  const fields = Object.keys(run.data?.config ?? {}).map((name) => `config.${name}`);
  const known = new Set([
    ...fields,
    ...(block.columns ?? []).filter((column) => column.startsWith("config.")),
  ]);
  return (
    <>
      <Group gap="xs" align="start" grow preventGrowOverflow={false}>
        <Select
          label="Content"
          data={KINDS}
          value={block.of}
          allowDeselect={false}
          onChange={(next) => {
            const of = KINDS.find(({ value }) => value === next)?.value ?? block.of;
            // Run numbers are not study numbers.
            const kept = (of === "study") === (block.of === "study");
            onChange({ ...block, of, numbers: kept ? block.numbers : [] });
          }}
        />
        {block.of === "study" && (
          <StudyField
            study={block.numbers[0]}
            onChange={(study) => onChange({ ...block, numbers: [study] })}
          />
        )}
      </Group>
      {block.of !== "study" && (
        <RunsField
          runs={block.numbers}
          known={compared?.runs ?? []}
          max={MAX_ROWS}
          onChange={(numbers) => onChange({ ...block, numbers })}
        />
      )}
      {block.of === "runs" && (
        <MultiSelect
          label="Columns"
          searchable
          data={[
            { group: "Run", items: COLUMNS },
            {
              group: "Configuration",
              items: [...known].map((value) => ({ value, label: value.replace("config.", "") })),
            },
          ]}
          value={block.columns ?? []}
          onChange={(columns) => onChange({ ...block, columns: columns.length > 0 ? columns : ["name"] })}
        />
      )}
    </>
  );
}

function StudyField({ study, onChange }: { study: number | undefined; onChange: (study: number) => void }) {
  const list = useInfiniteQuery(studiesQuery());
  const studies = list.data?.pages.flatMap((page) => page.items) ?? [];
  const listed = studies.map(({ id, name }) => ({ value: String(id), label: `${name} #${id}` }));
  const other = study !== undefined && studies.every(({ id }) => id !== study);
  return (
    <Select
      label="Study"
      placeholder="Name or number"
      searchable
      allowDeselect={false}
      data={other ? [...listed, { value: String(study), label: `Study #${study}` }] : listed}
      value={study === undefined ? null : String(study)}
      error={list.error?.message}
      nothingFoundMessage={list.isPending ? "Searching…" : "No studies found"}
      onChange={(id) => id !== null && onChange(Number(id))}
      maxDropdownHeight={320}
    />
  );
}
