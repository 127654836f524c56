import { Stack, Title } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { useNavigate } from "react-router";
import { useLaunchRun } from "@/api/mutations";
import { ApiError } from "@/api/problem";
import type { Environment, LaunchRequest, Preset } from "@/api/types";
import { ConfigFields } from "./ConfigFields";
import { DETAIL_NAMES, type Details, DetailsFields, NO_DETAILS } from "./DetailsFields";
import { type FieldErrors, placeErrors } from "./draft";
import classes from "./launch.module.css";
import { LaunchSummary } from "./LaunchSummary";
import { MethodCards } from "./MethodCards";
import { parseNumber } from "./numbers";
import { PresetCards } from "./PresetCards";
import { sectionsOf, splitEssential, type Variant } from "./schema";
import { type Reference, referenceFor, type StartingPoint } from "./startingPoint";
import { type ConfigDraft, focusFirst, useConfigDraft } from "./useConfigDraft";

interface LaunchFormProps {
  variants: Variant[];
  presets: readonly Preset[];
  environments: readonly Environment[];
  start: StartingPoint;
  initialDetails?: Details;
  onPreset: (name: string) => void;
  /** Another method was chosen, and what it begins with. */
  onMethod: (reference: Reference) => void;
}

export function LaunchForm({
  variants,
  presets,
  environments,
  start,
  initialDetails,
  onPreset,
  onMethod,
}: LaunchFormProps) {
  const config = useConfigDraft(variants, start);
  const [details, setDetails] = useState<Details>(initialDetails ?? NO_DETAILS);
  const [detailErrors, setDetailErrors] = useState<FieldErrors>({});
  const [problems, setProblems] = useState<string[]>([]);
  const launch = useLaunchRun();
  const navigate = useNavigate();

  function chooseMethod(variant: Variant) {
    const reference = referenceFor(variant, presets, environments, config.values["env"]);
    config.chooseMethod(variant, reference);
    onMethod(reference);
  }

  async function submit(event: FormEvent) {
    event.preventDefault();
    setProblems([]);
    const checked = checkDetails(details);
    setDetailErrors(checked);
    config.showAllErrors();
    if (Object.keys({ ...checked, ...config.allErrors }).length > 0) {
      focusFirst(inShownOrder(config), { ...config.allErrors, ...checked });
      return;
    }
    try {
      const run = await launch.mutateAsync(requestOf(config, details));
      await navigate(`/runs/${run.id}`);
    } catch (error) {
      const { byField, elsewhere } = problemOf(error, config);
      config.takeServerErrors(pick(byField, (name) => !DETAIL_NAMES.includes(name)));
      setDetailErrors(pick(byField, (name) => DETAIL_NAMES.includes(name)));
      setProblems(elsewhere);
      focusFirst(inShownOrder(config), byField);
    }
  }

  return (
    <form className={classes.page} onSubmit={(event) => void submit(event)} noValidate>
      <Stack gap="lg">
        <MethodCards
          variants={variants}
          chosen={config.variant?.algorithm}
          environment={environments.find(({ id }) => id === config.values["env"])}
          onChoose={chooseMethod}
        />
        <PresetCards
          presets={presets}
          environments={environments}
          algorithm={config.variant?.algorithm}
          chosen={config.reference.preset}
          onChoose={onPreset}
        />
        <ConfigFields config={config} environments={environments} />
        <Title order={2}>Name and notes</Title>
        <DetailsFields details={details} errors={detailErrors} onChange={setDetails} />
      </Stack>
      <LaunchSummary
        config={config}
        environments={environments}
        problems={problems}
        busy={launch.isPending}
      />
    </form>
  );
}

function requestOf(config: ConfigDraft, details: Details): LaunchRequest {
  const { name, tags, notes, priority } = details;
  return {
    config: config.values,
    ...(name.trim() && { name: name.trim() }),
    ...(tags.length > 0 && { tags }),
    ...(notes.trim() && { notes }),
    priority: parseNumber(priority) ?? 0,
  };
}

function checkDetails(details: Details): FieldErrors {
  const priority = parseNumber(details.priority || "0");
  return priority !== null && Number.isInteger(priority) ? {} : { priority: "Must be a whole number." };
}

/** The fields from top to bottom of the page, so that the first error is the first seen. */
function inShownOrder(config: ConfigDraft): { name: string }[] {
  const { essential, others } = splitEssential(config.fields);
  const sections = sectionsOf(others).flatMap(([, fields]) => fields);
  return [...essential, ...sections, ...DETAIL_NAMES.map((name) => ({ name }))];
}

function problemOf(error: unknown, config: ConfigDraft): ReturnType<typeof placeErrors> {
  if (!(error instanceof ApiError) || error.fieldErrors.length === 0) {
    return { byField: {}, elsewhere: [error instanceof Error ? error.message : String(error)] };
  }
  return placeErrors(error.fieldErrors, [...config.fields.map((field) => field.name), ...DETAIL_NAMES]);
}

function pick(errors: FieldErrors, wanted: (name: string) => boolean): FieldErrors {
  return Object.fromEntries(Object.entries(errors).filter(([name]) => wanted(name)));
}
