import {
  ActionIcon,
  Autocomplete,
  Button,
  Group,
  NativeSelect,
  Select,
  Skeleton,
  Stack,
  Text,
  Textarea,
  TextInput,
  Title,
} from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconPlus, IconX } from "@tabler/icons-react";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { useNavigate, useSearchParams } from "react-router";
import { isTaken, useStartStudy } from "@/api/mutations";
import { presetsQuery } from "@/api/queries";
import { studyPreviewQuery, studyQuery } from "@/api/studies";
import type { Preset, StudySpecification } from "@/api/types";
import { RestoredNote } from "@/config-form/RestoredNote";
import { placeErrors } from "@/config-form/serverErrors";
import { ConfirmCost } from "@/ui/ConfirmCost";
import { costWords } from "@/ui/studyCost";
import { QueryProblem } from "@/ui/QueryProblem";
import { useKept } from "@/ui/useKept";
import { usePageTitle } from "@/ui/usePageTitle";
import { Words } from "@/ui/Words";
import {
  type AxisDraft,
  axesProblem,
  draftOf,
  EMPTY,
  type Sampler,
  samplerOf,
  samplersOf,
  specificationOf,
  type StudyDraft,
} from "./draft";
import classes from "./studies.module.css";

/** The form of a new study, or of one that is started again; it tells its cost before it starts. */
export default function NewStudyPage() {
  usePageTitle("New study");
  const from = Number(useSearchParams()[0].get("from"));
  const cloned = useQuery({ ...studyQuery(from), enabled: from > 0, staleTime: Infinity });
  const presets = useQuery(presetsQuery);
  const failed = presets.isError ? presets : cloned.isError ? cloned : null;
  const ready = presets.data && (cloned.data || !(from > 0));
  return (
    <Stack className={classes.sheet} gap="md">
      <Title order={1}>New study</Title>
      {failed && <QueryProblem error={failed.error} retry={() => void failed.refetch()} />}
      {!ready && !failed && (
        <Skeleton height={320} radius="sm" role="status" aria-label="Loading the form…" />
      )}
      {ready && (
        <StudyForm key={from} from={from} presets={presets.data} cloned={cloned.data?.specification} />
      )}
    </Stack>
  );
}

interface StudyFormProps {
  /** The study that is started again, or 0. */
  from: number;
  presets: readonly Preset[];
  cloned?: StudySpecification | undefined;
}

const FIELDS = [
  "name",
  "question",
  "preset",
  "seeds",
  "total_steps",
  "points",
  "sampler",
  "pruner",
  "at_once",
  "axes",
] as const;
const PRUNERS = [
  { value: "none", label: "Never" },
  { value: "median", label: "Below the median" },
  { value: "halving", label: "Successive halving" },
];
const SAMPLERS: Record<Sampler, string> = {
  grid: "Each value with each other",
  tpe: "Where runs look best (TPE)",
  random: "At random",
};

function StudyForm({ from, presets, cloned }: StudyFormProps) {
  const kept = useKept<StudyDraft>(`arcadia-study-${from}`, cloned ? draftOf(cloned) : EMPTY);
  const draft = kept.value;
  const [settled] = useDebouncedValue(draft, 400);
  const base = cloned ?? {};
  const wasDrawn = (cloned?.sampler ?? "grid") !== "grid";
  const preview = useQuery({
    ...studyPreviewQuery(specificationOf({ ...settled, name: settled.name || "-" }, base)),
    // The button stays as it was while the runs are counted again: a press is not lost.
    placeholderData: keepPreviousData,
    enabled: axesProblem(settled) === null,
  });
  const unclear = axesProblem(draft);
  const counting = preview.isPending || preview.isPlaceholderData;
  const start = useStartStudy();
  const [confirmedSteps, setConfirmedSteps] = useState<number | null>(null);
  const unconfirmed = Boolean(preview.data?.confirm) && preview.data?.steps !== confirmedSteps;
  const navigate = useNavigate();
  const errors = placeErrors(start.error ?? preview.error ?? undefined, FIELDS);
  const wrong = (start.error ?? preview.error) ? errors : { byField: {}, elsewhere: [] };
  const sampler = samplerOf(draft);
  const isDrawn = sampler !== "grid";
  const ofPresets = draft.axes.some(({ field }) => field === "preset");
  const change = (changes: Partial<StudyDraft>) => {
    start.reset();
    kept.change(changes);
  };
  const confirmed = (asked: StudySpecification) =>
    preview.data?.confirm ? { ...asked, confirm_steps: confirmedSteps } : asked;
  const submit = () =>
    start.mutate(confirmed(specificationOf(draft, base)), {
      onSuccess({ id }) {
        kept.forget();
        void navigate(`/studies/${id}`);
      },
    });
  return (
    <form
      className={classes.form}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <Stack gap="md">
        {kept.restored && <RestoredNote onBeginAnew={kept.beginAnew} />}
        <TextInput
          label="Name"
          required
          maxLength={200}
          value={draft.name}
          error={wrong.byField.name}
          onChange={({ currentTarget }) => change({ name: currentTarget.value })}
        />
        <Textarea
          label="Question"
          description="What it is to answer"
          autosize
          minRows={2}
          value={draft.question}
          error={wrong.byField.question}
          onChange={({ currentTarget }) => change({ question: currentTarget.value })}
        />
        {!cloned?.config && !ofPresets && (
          <Select
            label="Preset"
            description={<Words>What all runs begin from; an axis `preset` tries several</Words>}
            searchable
            data={presets.map(({ name, title }) => ({ value: name, label: title }))}
            value={draft.preset}
            error={wrong.byField.preset}
            onChange={(preset) => change({ preset: preset ?? "" })}
          />
        )}
        <Axes
          draft={draft}
          presets={presets}
          error={unclear ?? wrong.byField.axes}
          onChange={(axes) => change({ axes })}
        />
        <div className={classes.fields}>
          <TextInput
            label="Seeds"
            description="As 1-5, or 3, 7, 11"
            value={draft.seeds}
            error={wrong.byField.seeds}
            onChange={({ currentTarget }) => change({ seeds: currentTarget.value })}
          />
          <TextInput
            label="Steps of each run"
            description="Empty: as the preset has it"
            inputMode="numeric"
            value={draft.totalSteps}
            error={wrong.byField.total_steps}
            onChange={({ currentTarget }) => change({ totalSteps: currentTarget.value })}
          />
          <TextInput
            label="Runs at a time"
            description="That wait or train"
            inputMode="numeric"
            value={draft.atOnce}
            error={wrong.byField.at_once}
            onChange={({ currentTarget }) => change({ atOnce: currentTarget.value })}
          />
          <NativeSelect
            label="End runs early"
            description="By their mean return"
            data={PRUNERS}
            value={draft.pruner}
            error={wrong.byField.pruner}
            onChange={({ currentTarget }) => change({ pruner: currentTarget.value as StudyDraft["pruner"] })}
          />
          {(isDrawn || wasDrawn) && (
            <NativeSelect
              label="Draw points"
              description={isDrawn ? "By Optuna" : "As a grid"}
              data={samplersOf(draft).map((value) => ({ value, label: SAMPLERS[value] }))}
              value={sampler}
              error={wrong.byField.sampler}
              onChange={({ currentTarget }) => change({ sampler: currentTarget.value as Sampler })}
            />
          )}
          {isDrawn && (
            <TextInput
              label="Points to draw"
              description="From the axes above"
              inputMode="numeric"
              value={draft.points}
              error={wrong.byField.points}
              onChange={({ currentTarget }) => change({ points: currentTarget.value })}
            />
          )}
        </div>
        {wrong.elsewhere.map((sentence) => (
          <Problem key={sentence}>{sentence}</Problem>
        ))}
        {preview.data?.refused && <Problem>{preview.data.refused}</Problem>}
        {preview.data && !preview.data.refused && (
          <ConfirmCost
            cost={preview.data}
            confirmed={!unconfirmed}
            onChange={(checked) => setConfirmedSteps(checked ? (preview.data?.steps ?? null) : null)}
          />
        )}
        <Group>
          <Button
            type="submit"
            loading={isTaken(start)}
            disabled={unconfirmed || unclear !== null || !preview.data || Boolean(preview.data.refused)}
          >
            Start study
          </Button>
          <Text size="sm" c="dimmed" role="status" aria-label="What it costs">
            {unclear === null && (counting ? "Counting its runs…" : preview.data && costWords(preview.data))}
          </Text>
        </Group>
      </Stack>
    </form>
  );
}

function Problem({ children }: { children: ReactNode }) {
  return (
    <Text size="sm" c="var(--mantine-color-error)" role="alert">
      {children}
    </Text>
  );
}

interface AxesProps {
  draft: StudyDraft;
  presets: readonly Preset[];
  error: string | undefined;
  onChange: (axes: AxisDraft[]) => void;
}

/** What the runs differ in besides their seeds. */
function Axes({ draft, presets, error, onChange }: AxesProps) {
  const config = presets.find(({ name }) => name === draft.preset)?.config ?? {};
  const fields = ["preset", ...Object.keys(config).filter((field) => field !== "seed")];
  const changed = (place: number, changes: Partial<AxisDraft>) =>
    onChange(draft.axes.map((axis, other) => (other === place ? { ...axis, ...changes } : axis)));
  return (
    <Stack gap="xs" component="fieldset" style={{ border: 0, margin: 0, padding: 0 }}>
      <Text component="legend" size="sm" fw={500} mb={4}>
        Axes: what the runs differ in besides their seeds
      </Text>
      {draft.axes.map((axis, place) => (
        <div key={place} className={classes.axis}>
          <Autocomplete
            aria-label={`Field of axis ${place + 1}`}
            placeholder="learning_rate"
            data={fields}
            value={axis.field}
            onChange={(field) => changed(place, { field })}
          />
          <TextInput
            aria-label={`Values of axis ${place + 1}`}
            placeholder="1e-4, 3e-4, 1e-3   or   log(1e-4, 1e-2)   or   uniform(0.9, 0.99)"
            value={axis.values}
            onChange={({ currentTarget }) => changed(place, { values: currentTarget.value })}
          />
          <ActionIcon
            variant="subtle"
            size={36}
            aria-label={`Remove axis ${place + 1}`}
            onClick={() => onChange(draft.axes.filter((_, other) => other !== place))}
          >
            <IconX size={16} />
          </ActionIcon>
        </div>
      ))}
      <Text size="xs" c="var(--arcadia-dim)">
        Several fields move together as t_max, num_envs with the values (5, 2), (20, 8).
      </Text>
      {error && <Problem>{error}</Problem>}
      <Button
        variant="default"
        size="xs"
        w="fit-content"
        leftSection={<IconPlus size={14} />}
        onClick={() => onChange([...draft.axes, { field: "", values: "" }])}
      >
        Add an axis
      </Button>
    </Stack>
  );
}
