import { Group, MultiSelect, Select, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { runQuery } from "@/api/queries";
import { numbersIn } from "@/api/runNumbers";
import type { ReportBlock } from "@/api/types";

type TableBlock = ReportBlock & { kind: "table" };

const KINDS = [
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

/** What a table is of, and which columns it has. */
export function TableFields({ block, onChange }: TableFieldsProps) {
  const [written, setWritten] = useState(block.numbers.join(", "));
  const wrong = written.split(/[\s,]+/).find((word) => word !== "" && numbersIn(word).length === 0);
  const problem = wrong
    ? `“${wrong}” is no number of a ${block.of === "study" ? "study" : "run"}.`
    : block.of === "study" && block.numbers.length > 1 && "A table is of one study: the first is shown.";
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
          label="Table of"
          data={KINDS}
          value={block.of}
          allowDeselect={false}
          onChange={(of) => onChange({ ...block, of: of as TableBlock["of"] })}
        />
        <TextInput
          label={block.of === "study" ? "Number of the study" : "Numbers of the runs"}
          placeholder={block.of === "study" ? "1" : "1, 2, 7-12"}
          value={written}
          error={problem}
          onChange={(event) => {
            setWritten(event.currentTarget.value);
            onChange({ ...block, numbers: numbersIn(event.currentTarget.value) });
          }}
        />
      </Group>
      {block.of === "runs" && (
        <MultiSelect
          label="Columns"
          searchable
          data={[
            { group: "Of the run", items: COLUMNS },
            {
              group: "Of its configuration",
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
