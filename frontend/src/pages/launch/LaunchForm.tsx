import { Stack, Title } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { useNavigate } from "react-router";
import { MOST_RUNS } from "@/api/comparisons";
import { isTaken, useLaunchRun, useStartStudy } from "@/api/mutations";
import type { Environment, LaunchRequest, Preset, StartStudy, Study, StudySpecification } from "@/api/types";
import { ConfigFields } from "@/config-form/ConfigFields";
import type { FieldErrors } from "@/config-form/draft";
import { parseNumber } from "@/config-form/numbers";
import { keyOf, type Reference, type StartingPoint } from "@/config-form/reference";
import { RestoredNote } from "@/config-form/RestoredNote";
import { sectionsOf, splitEssential, type Variant } from "@/config-form/schema";
import { placeErrors } from "@/config-form/serverErrors";
import { type ConfigDraft, focusFirst, useConfigDraft } from "@/config-form/useConfigDraft";
import { useKept } from "@/ui/useKept";
import { DETAIL_NAMES, type Details, DetailsFields, NO_DETAILS } from "./DetailsFields";
import classes from "./launch.module.css";
import { LaunchSummary } from "./LaunchSummary";
import { MethodCards } from "./MethodCards";
import { PresetCards } from "./PresetCards";
import { referenceFor } from "./startingPoint";
import { studyOf } from "./study";
import { type StudyCost, useStudyCost } from "./useStudyCost";

interface LaunchFormProps {
  variants: Variant[];
  presets: readonly Preset[];
  environments: readonly Environment[];
  start: StartingPoint;
  onPreset: (name: string) => void;
  /** Another method was chosen, and what it begins with. */
  onMethod: (reference: Reference) => void;
}

export function LaunchForm({ variants, presets, environments, start, onPreset, onMethod }: LaunchFormProps) {
  const config = useConfigDraft(variants, start, "launch", true);
  const keptDetails = useKept<Details>(detailsPlace(start.key), NO_DETAILS);
  const details = keptDetails.value;
  const [detailErrors, setDetailErrors] = useState<FieldErrors>({});
  const [problems, setProblems] = useState<string[]>([]);
  const launch = useLaunchRun();
  const startStudy = useStartStudy();
  const study = asStudy(config, details);
  const cost = useStudyCost(study);
  const navigate = useNavigate();

  function chooseMethod(variant: Variant) {
    const reference = referenceFor(variant, presets, environments, config.values["env"]);
    config.chooseMethod(variant, reference);
    keptDetails.carryTo(detailsPlace(keyOf(reference)));
    onMethod(reference);
  }

  function choosePreset(preset: string) {
    keptDetails.carryTo(detailsPlace(keyOf({ preset, values: {} })));
    onPreset(preset);
  }

  function beginAnew() {
    config.beginAnew();
    keptDetails.beginAnew();
    setDetailErrors({});
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
      const address = study
        ? opened(await startStudy.mutateAsync(confirmed(study, cost)))
        : `/runs/${(await launch.mutateAsync(requestOf(config, details))).id}`;
      config.forget();
      keptDetails.forget();
      await navigate(address);
    } catch (error) {
      const names = [...config.fields.map((field) => field.name), ...DETAIL_NAMES];
      const { byField, elsewhere } = placeErrors(error, names);
      config.takeServerErrors(pick(byField, (name) => !DETAIL_NAMES.includes(name)));
      setDetailErrors(pick(byField, (name) => DETAIL_NAMES.includes(name)));
      setProblems(elsewhere);
      focusFirst(inShownOrder(config), byField);
    }
  }

  return (
    <form className={classes.page} onSubmit={(event) => void submit(event)} noValidate>
      <Stack gap="lg">
        {(config.restored || keptDetails.restored) && <RestoredNote onBeginAnew={beginAnew} />}
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
          onChoose={choosePreset}
        />
        <ConfigFields config={config} environments={environments} />
        <Title order={2}>Name and notes</Title>
        <DetailsFields details={details} errors={detailErrors} onChange={keptDetails.change} />
      </Stack>
      <LaunchSummary
        config={config}
        environments={environments}
        cost={cost}
        problems={problems}
        busy={isTaken(launch) || isTaken(startStudy)}
      />
    </form>
  );
}

const detailsPlace = (key: string) => `arcadia-launch-details-${key}`;

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

/** The study that the form asks for, if a field has several values. */
function asStudy(config: ConfigDraft, details: Details): StudySpecification | null {
  const fields = config.fields.filter(({ name }) => config.series[name]);
  if (fields.length === 0) return null;
  const titles = fields.map(({ title }) => title.toLowerCase()).join(", ");
  const env = String(config.values["env"]).replace(/^ALE\//, "");
  return studyOf({
    name: details.name.trim() || `${config.variant?.title ?? "Runs"} on ${env}: ${titles}`,
    question: details.notes,
    config: config.values,
    series: config.series,
  });
}

const confirmed = (study: StudySpecification, cost: StudyCost | null): StartStudy =>
  cost?.confirmedSteps ? { ...study, confirm_steps: cost.confirmedSteps } : study;

/** Where a new study is seen: its curves grouped by seed if a comparison takes all of its runs, else its page. */
function opened(study: Study): string {
  const ids = study.table.flatMap(({ runs }) => runs.map(({ run_id }) => run_id));
  return ids.length <= MOST_RUNS && ids.every((id) => id !== null)
    ? `/compare?runs=${ids.join(",")}`
    : `/studies/${study.id}`;
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

function pick(errors: FieldErrors, wanted: (name: string) => boolean): FieldErrors {
  return Object.fromEntries(Object.entries(errors).filter(([name]) => wanted(name)));
}
