import { Group, MultiSelect, Select } from "@mantine/core";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { comparisonQuery } from "@/api/comparisons";
import { runQuery } from "@/api/runs";
import { studiesQuery } from "@/api/studies";
import type { ReportBlock } from "@/api/types";
import { RunsField } from "@/charts/fields/RunsField";

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
export function TableFields({ block, onChange }: TableFieldsProps) {
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
