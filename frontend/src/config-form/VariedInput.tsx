import { Group, Input, MultiSelect, SegmentedControl, Stack, Text, TextInput } from "@mantine/core";
import type { ReactNode } from "react";
import type { Environment } from "@/api/types";
import { parseNumber, formatNumber } from "./numbers";
import { environmentChoices } from "./environmentChoices";
import type { FormField } from "./schema";
import {
  type RangeKind,
  parseRange,
  readSeries,
  evenlySpaced,
  DEFAULT_COUNT,
  formatRange,
  formatValues,
} from "./series";

interface VariedInputProps {
  id: string;
  field: FormField;
  label: ReactNode;
  error: string | undefined;
  typed: string | boolean | undefined;
  environments: readonly Environment[];
  method: string;
  onType: (typed: string) => void;
  onLeave: () => void;
}

const FORMATS = [
  { value: "list", label: "List" },
  { value: "uniform", label: "Linear range" },
  { value: "log", label: "Log range" },
];

/** Input for several values: a list, or a range with a number of values. */
export function VariedInput(props: VariedInputProps) {
  const { id, field, label, error, typed, environments, method, onType, onLeave } = props;
  const shared = { id, label, error, description: field.help };
  const text = typeof typed === "string" ? typed : "";
  if (field.kind === "boolean") {
    return (
      <Input.Wrapper {...shared}>
        <Text size="sm" py={6}>
          Off and on
        </Text>
      </Input.Wrapper>
    );
  }
  if (field.kind === "choice") {
    return (
      <MultiSelect
        {...shared}
        data={field.name === "env" ? environmentChoices(field.choices, environments, method) : field.choices}
        value={text.split(/,\s*/).filter(Boolean)}
        onChange={(values) => onType(values.join(", "))}
        onBlur={onLeave}
        searchable
        hidePickedOptions
        maxDropdownHeight={320}
      />
    );
  }
  const range = field.name === "seed" ? null : parseRange(text);
  const input = { autoComplete: "off", spellCheck: false, onBlur: onLeave };
  return (
    <Stack gap={6}>
      {range ? (
        <Input.Wrapper {...shared}>
          <Group gap={8} wrap="nowrap" grow>
            {(["low", "high", "count"] as const).map((part) => (
              <TextInput
                key={part}
                {...input}
                {...(part === "low" && { id })}
                aria-label={`${field.title}: ${PARTS[part]}`}
                placeholder={part === "count" ? String(DEFAULT_COUNT) : PARTS[part]}
                leftSection={
                  part === "count" && (
                    <Text size="sm" c="dimmed" aria-hidden>
                      ×
                    </Text>
                  )
                }
                error={Boolean(error)}
                value={range[part]}
                onChange={({ currentTarget }) =>
                  onType(formatRange({ ...range, [part]: sanitized(currentTarget.value) }))
                }
              />
            ))}
          </Group>
        </Input.Wrapper>
      ) : (
        <TextInput
          {...input}
          {...shared}
          placeholder={field.name === "seed" ? "1-5" : "0.1, 0.3, 1"}
          value={text}
          onChange={({ currentTarget }) => onType(currentTarget.value)}
        />
      )}
      {field.name !== "seed" && (
        <SegmentedControl
          size="xs"
          fullWidth
          aria-label={`${field.title}: how it varies`}
          data={FORMATS}
          value={range?.kind ?? "list"}
          onChange={(shape) => onType(convert(field, text, shape))}
        />
      )}
    </Stack>
  );
}

const PARTS = { low: "from", high: "to", count: "number of values" };

/** Remove characters that would end this part of the range. */
const sanitized = (text: string) => text.replace(/[,()\s]/g, "");

/** Return the same values in another format: a range as a list, or a list as its range. */
function convert(field: FormField, text: string, shape: string): string {
  const range = parseRange(text);
  if (shape === "list") {
    const series = readSeries(field, text);
    if (!series || "error" in series || series.kind === "values") return range?.low ?? text;
    return formatValues(field, evenlySpaced(series, field.kind === "integer"));
  }
  const kind: RangeKind = shape === "log" ? "log" : "uniform";
  if (range) return formatRange({ ...range, kind });
  const numbers = text.split(/,\s+|;\s*/).flatMap((part) => parseNumber(part) ?? []);
  const [low, high] = boundsOf(field, numbers, kind);
  const count = String(numbers.length > 1 ? numbers.length : DEFAULT_COUNT);
  return formatRange({ kind, low: formatNumber(low), high: formatNumber(high), count });
}

/** Return the smallest and largest number. For one number, return a range around it. */
function boundsOf(field: FormField, numbers: readonly number[], kind: RangeKind): [number, number] {
  const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
  if (numbers.length > 1) return [low, high];
  const one = numbers[0] ?? 1;
  const factor = kind === "log" ? 10 : 2;
  const { min = -Infinity, max = Infinity } = field.range;
  const ends = [one / factor, one * factor].map((end) => {
    const round = field.kind === "integer" ? Math.round(end) : Number(end.toPrecision(4));
    return Math.min(max, Math.max(min, round));
  });
  return [Math.min(...ends), Math.max(...ends)];
}
