import { ActionIcon, Group, MultiSelect, NativeSelect, Stack, Text, TextInput } from "@mantine/core";
import { IconX } from "@tabler/icons-react";
import type { Preset } from "@/api/types";
import type { FieldErrors } from "@/config-form/draft";
import classes from "@/config-form/fields.module.css";
import type { FormField } from "@/config-form/schema";
import { inputId } from "@/config-form/useConfigDraft";
import type { Axis, Pruner, Sampler, StudyOptions, Until } from "./study";

const SAMPLERS: { value: Sampler; label: string }[] = [
  { value: "grid", label: "Every combination" },
  { value: "random", label: "Random points" },
  { value: "tpe", label: "Points near the best (TPE)" },
];
const SAMPLER_HELP: Record<Sampler, string> = {
  grid: "All combinations of values. Ranges use equal steps.",
  random: "Random values from the lists and ranges.",
  tpe: "Values near the best finished runs.",
};
const PRUNERS: { value: Pruner; label: string }[] = [
  { value: "none", label: "Never" },
  { value: "median", label: "Below the median" },
  { value: "halving", label: "Successive halving" },
];
const UNTIL: { value: Until | ""; label: string }[] = [
  { value: "", label: "No" },
  { value: "certain", label: "Until certain" },
];

interface StudyFieldsProps {
  options: StudyOptions;
  errors: FieldErrors;
  presets: readonly Preset[];
  fields: readonly FormField[];
  onChange: (changes: Partial<StudyOptions>) => void;
}

/** Fields for the points, seeds and pruner of a study. */
export function StudyFields({ options, errors, presets, fields, onChange }: StudyFieldsProps) {
  const methods = [...new Set(presets.map(({ method }) => method))];
  const choices = methods.map((method) => ({
    group: method,
    items: presets
      .filter((preset) => preset.method === method)
      .map(({ name, title }) => ({ value: name, label: title })),
  }));
  return (
    <Stack gap="md">
      <div className={classes.fields}>
        <NativeSelect
          id={inputId("sampler")}
          label="Combinations"
          description={SAMPLER_HELP[options.sampler]}
          data={SAMPLERS}
          value={options.sampler}
          error={errors["sampler"]}
          onChange={({ currentTarget }) => onChange({ sampler: currentTarget.value as Sampler })}
        />
        {options.sampler !== "grid" && (
          <TextInput
            id={inputId("points")}
            label="Number of points"
            description="Each point is trained with all seeds."
            inputMode="numeric"
            value={options.points}
            error={errors["points"]}
            onChange={({ currentTarget }) => onChange({ points: currentTarget.value })}
          />
        )}
        <NativeSelect
          id={inputId("pruner")}
          label="Stop runs early"
          description="Based on the mean return so far."
          data={PRUNERS}
          value={options.pruner}
          error={errors["pruner"]}
          onChange={({ currentTarget }) => onChange({ pruner: currentTarget.value as Pruner })}
        />
        <NativeSelect
          id={inputId("until")}
          label="Add seeds"
          description="One per undecided point, until a test decides."
          data={UNTIL}
          value={options.until}
          error={errors["until"]}
          onChange={({ currentTarget }) => onChange({ until: currentTarget.value as Until | "" })}
        />
        {options.until !== "" && (
          <TextInput
            id={inputId("max_seeds")}
            label="Seed limit"
            description="Largest number of seeds per point."
            inputMode="numeric"
            value={options.maxSeeds}
            error={errors["max_seeds"]}
            onChange={({ currentTarget }) => onChange({ maxSeeds: currentTarget.value })}
          />
        )}
        <TextInput
          id={inputId("max_concurrent_runs")}
          label="Concurrent runs"
          description="Training at once. Default: 100, or 2 with TPE."
          inputMode="numeric"
          value={options.maxConcurrentRuns}
          error={errors["max_concurrent_runs"]}
          onChange={({ currentTarget }) => onChange({ maxConcurrentRuns: currentTarget.value })}
        />
        <MultiSelect
          id={inputId("preset")}
          label="Presets to compare"
          description="Only changed fields apply to these presets."
          placeholder={options.presets.length === 0 ? "Only the preset above" : ""}
          data={choices}
          value={options.presets}
          error={errors["preset"]}
          onChange={(chosen) => onChange({ presets: chosen })}
          searchable
          hidePickedOptions
          maxDropdownHeight={320}
        />
      </div>
      {options.others.map((axis, place) => (
        <Group key={place} gap="xs" wrap="nowrap">
          <Text size="sm">
            Also varies {titlesOf(axis, fields)}: {valuesOf(axis)}
          </Text>
          <ActionIcon
            variant="subtle"
            aria-label={`Do not vary ${titlesOf(axis, fields)}`}
            onClick={() => onChange({ others: options.others.filter((_, other) => other !== place) })}
          >
            <IconX size={16} />
          </ActionIcon>
        </Group>
      ))}
      {errors["axes"] && (
        <Text size="sm" c="var(--mantine-color-error)" role="alert">
          {errors["axes"]}
        </Text>
      )}
    </Stack>
  );
}

const titlesOf = ({ field }: Axis, fields: readonly FormField[]) =>
  [field]
    .flat()
    .map((name) => fields.find((known) => known.name === name)?.title.toLowerCase() ?? name)
    .join(" with ");

function valuesOf({ values, uniform, log_uniform }: Axis): string {
  const bounds = log_uniform ?? uniform;
  if (bounds) return `from ${bounds.join(" to ")}`;
  return (values ?? [])
    .map((value) => (Array.isArray(value) ? `(${value.join(", ")})` : String(value)))
    .join(", ");
}
