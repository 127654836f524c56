import { Stack, Title } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { type FormEvent, type KeyboardEvent, useEffect, useRef, useState } from "react";
import { useLocation, useNavigate } from "react-router";
import { MAX_RUNS } from "@/api/comparisons";
import { isSubmitted } from "@/api/mutationState";
import { MAIN_PROJECT } from "@/api/projects";
import { useLaunchRun } from "@/api/runs";
import { useStartStudy } from "@/api/studies";
import type {
  Environment,
  ExecutorName,
  LaunchRequest,
  Preset,
  RunConfig,
  StartStudy,
  Study,
  StudySpecification,
} from "@/api/types";
import { ConfigFields } from "@/config-form/ConfigFields";
import type { FieldErrors } from "@/config-form/draft";
import { parseNumber } from "@/config-form/numbers";
import { keyOf, nearestPreset, type Reference, type StartingPoint } from "@/config-form/reference";
import { RestoredDraftNote } from "@/config-form/RestoredDraftNote";
import { sectionsOf, splitEssential, type Variant, variantFor } from "@/config-form/schema";
import { placeErrors } from "@/config-form/serverErrors";
import { type ConfigDraft, focusFirst, useConfigDraft } from "@/config-form/useConfigDraft";
import { browserStorage } from "@/ui/pageStorage";
import { FROM_KEYBOARD } from "@/ui/shortcuts";
import { useStoredDraft } from "@/ui/useStoredDraft";
import { ConfigTextModal } from "./ConfigTextModal";
import { DETAIL_NAMES, type Details, DetailsFields, NO_DETAILS } from "./DetailsFields";
import { EnvironmentPicker } from "./EnvironmentPicker";
import { LAST_LAUNCH_KEY, type LastLaunch } from "./lastLaunch";
import classes from "./launch.module.css";
import { LaunchSummary } from "./LaunchSummary";
import { MethodCards } from "./MethodCards";
import { PresetCards } from "./PresetCards";
import { referenceFor } from "./startingPoint";
import { namedAsInForm, NO_OPTIONS, OPTION_NAMES, studyOf, type StudyOptions } from "./study";
import { StudyFields } from "./StudyFields";
import { type StudyCost, useStudyCost } from "./useStudyCost";

export interface LaunchFormProps {
  variants: Variant[];
  presets: readonly Preset[];
  environments: readonly Environment[];
  start: StartingPoint;
  /** True if the form makes a study even without varied fields. */
  isStudy: boolean;
  /** The study to clone. */
  clonedStudy: { details: Partial<Details>; options: StudyOptions } | null;
  /** The project that the form starts with. */
  project: string;
  /** Where the runs train. Null is the default of the project. */
  executor: ExecutorName | null;
  /** Options of their jobs on Slurm. */
  jobOptions: readonly string[];
  onPreset: (name: string, env: string) => void;
  /** Called when another method or environment is chosen, with its starting point. */
  onMethod: (reference: Reference, env: string) => void;
}

export function LaunchForm(props: LaunchFormProps) {
  const { variants, presets, environments, start, isStudy, clonedStudy, onPreset, onMethod } = props;
  const form = isStudy ? "study" : "launch";
  const detailsKey = (key: string) => `arcadia-${form}-details-${key}`;
  const optionsKey = (key: string) => `arcadia-${form}-options-${key}`;
  const config = useConfigDraft(variants, start, form, true);
  const keptDetails = useStoredDraft<Details>(detailsKey(start.key), {
    ...NO_DETAILS,
    ...clonedStudy?.details,
  });
  const keptOptions = useStoredDraft<StudyOptions>(optionsKey(start.key), clonedStudy?.options ?? NO_OPTIONS);
  const details = keptDetails.value;
  const options = keptOptions.value;
  const [chosenProject, setChosenProject] = useState<string | null>(null);
  const project = chosenProject ?? props.project;
  const [executor, setExecutor] = useState(props.executor);
  const [jobOptions, setJobOptions] = useState(props.jobOptions.join("\n"));
  const where = placeOf(executor, jobOptions);
  const [detailErrors, setDetailErrors] = useState<FieldErrors>({});
  const [isTextOpen, textDialog] = useDisclosure(false);
  const [problems, setProblems] = useState<string[]>([]);
  const launch = useLaunchRun();
  const startStudy = useStartStudy();
  const described = asStudy(config, details, options, isStudy);
  const study = described && { ...described, ...where };
  const cost = useStudyCost(study);
  const navigate = useNavigate();
  const element = useRef<HTMLFormElement>(null);
  const { key: visit, state: visitState } = useLocation();
  useEffect(() => {
    if (visitState === FROM_KEYBOARD) element.current?.querySelector("input")?.focus();
  }, [visit, visitState]);
  const env = String(config.values["env"] ?? "");

  function carryTo(key: string) {
    keptDetails.carryTo(detailsKey(key));
    keptOptions.carryTo(optionsKey(key));
  }

  function chooseMethod(variant: Variant) {
    begin(variant, env);
  }

  /** Choose an environment and keep the method if it can learn it, or take the first that can. */
  function chooseEnvironment(id: string) {
    const known = environments.find((environment) => environment.id === id);
    const fits = (variant: Variant) => known?.algorithms.includes(variant.algorithm) ?? true;
    const fitting = variants.filter(fits);
    const hasPreset = ({ algorithm }: Variant) =>
      presets.some((preset) => preset.config["algorithm"] === algorithm && preset.config["env"] === id);
    const variant =
      config.variant && fits(config.variant) ? config.variant : (fitting.find(hasPreset) ?? fitting[0]);
    if (variant) begin(variant, id);
  }

  function begin(variant: Variant, id: string, values: RunConfig = {}) {
    const reference = referenceFor(variant, presets, environments, id);
    config.chooseMethod(variant, reference, id, values);
    carryTo(keyOf(reference, id));
    onMethod(reference, id);
  }

  function applyText(values: RunConfig) {
    const variant = variantFor(variants, values["algorithm"] ?? config.variant?.algorithm);
    const isOther = values["algorithm"] !== undefined || values["env"] !== undefined;
    if (variant && isOther) begin(variant, String(values["env"] ?? env), values);
    else config.apply(values);
  }

  function choosePreset(preset: string, isFound: boolean) {
    const chosen = presets.find(({ name }) => name === preset);
    if (!chosen) return;
    // Keep the environment if the preset can be used for it.
    const familyOf = (id: unknown) => environments.find((known) => known.id === id)?.family.name;
    const own = String(chosen.config["env"]);
    const id = !isFound && familyOf(own) === familyOf(env) ? env : own;
    carryTo(keyOf({ preset, values: chosen.config }, id));
    onPreset(preset, id);
  }

  function startOver() {
    config.startOver();
    keptDetails.startOver();
    keptOptions.startOver();
    setDetailErrors({});
  }

  async function submit(event: FormEvent) {
    event.preventDefault();
    setProblems([]);
    const checked = checkDetails(details);
    setDetailErrors(checked);
    config.showAllErrors();
    if (Object.keys({ ...checked, ...config.allErrors }).length > 0) {
      focusFirst(inShownOrder(config, isStudy), { ...config.allErrors, ...checked });
      return;
    }
    const chosen = project === MAIN_PROJECT ? {} : { project };
    try {
      const address = study
        ? addressOf(await startStudy.mutateAsync({ ...confirmed(study, cost), ...chosen }), isStudy)
        : `/runs/${(await launch.mutateAsync({ ...requestOf(config, details), ...chosen, ...where })).id}`;
      config.forget();
      browserStorage.keep(LAST_LAUNCH_KEY, {
        preset: config.reference.preset ?? nearestPreset(presets, config.values)?.name ?? null,
        method: config.variant?.algorithm ?? null,
        env,
      } satisfies LastLaunch);
      keptDetails.forget();
      keptOptions.forget();
      await navigate(address);
    } catch (error) {
      const names = [...config.fields.map((field) => field.name), ...OTHER_INPUTS];
      const { byField, general } = placeErrors(study ? namedAsInForm(error, study) : error, names);
      config.takeServerErrors(pick(byField, (name) => !OTHER_INPUTS.includes(name)));
      setDetailErrors(pick(byField, (name) => OTHER_INPUTS.includes(name)));
      setProblems(general);
      focusFirst(inShownOrder(config, isStudy), byField);
    }
  }

  // A new study shows its settings first. In a run's form, the section must not move the field that is being varied.
  const studySection = study && (
    <>
      <Title order={2}>Study</Title>
      <StudyFields
        options={options}
        errors={detailErrors}
        presets={presets}
        fields={config.fields}
        onChange={keptOptions.change}
      />
    </>
  );

  return (
    <form
      ref={element}
      className={classes.page}
      onSubmit={(event) => void submit(event)}
      onKeyDown={submitOnModEnter}
      noValidate
    >
      <Stack gap="lg">
        {(config.restored || keptDetails.restored || keptOptions.restored) && (
          <RestoredDraftNote onStartOver={startOver} />
        )}
        <ConfigTextModal
          opened={isTextOpen}
          values={config.values}
          variants={variants}
          onApply={applyText}
          onClose={textDialog.close}
        />
        <EnvironmentPicker
          environments={environments}
          field={config.fields.find(({ name }) => name === "env")}
          typed={config.draft["env"]}
          chosen={config.values["env"]}
          isVaried={config.series["env"] !== undefined}
          error={config.errors["env"]}
          method={config.variant?.title ?? ""}
          onChoose={chooseEnvironment}
          onVary={(typed) => config.set("env", typed)}
        />
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
          env={env}
          chosen={config.reference.preset}
          onChoose={choosePreset}
        />
        {isStudy && studySection}
        <ConfigFields config={config} environments={environments} without={["env"]} />
        {!isStudy && studySection}
        <Title order={2}>{study ? "Name and question" : "Name and notes"}</Title>
        <DetailsFields
          details={details}
          errors={detailErrors}
          isStudy={study !== null}
          project={project}
          onChange={keptDetails.change}
          onProject={setChosenProject}
          executor={executor}
          onExecutor={setExecutor}
          jobOptions={jobOptions}
          onJobOptions={setJobOptions}
        />
      </Stack>
      <LaunchSummary
        config={config}
        environments={environments}
        cost={cost}
        priority={priorityOf(details)}
        executor={executor}
        project={project}
        onText={textDialog.open}
        problems={problems}
        busy={isSubmitted(launch) || isSubmitted(startStudy)}
      />
    </form>
  );
}

/** Press the submit button with Ctrl+Enter or Cmd+Enter, except in a dialog that the form has opened. */
function submitOnModEnter(event: KeyboardEvent<HTMLFormElement>): void {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  if (!event.currentTarget.contains(event.target as Node)) return;
  event.preventDefault();
  event.currentTarget.querySelector<HTMLButtonElement>("button[type=submit]:not([data-loading])")?.click();
}

/** Names of inputs that are not configuration fields. */
const OTHER_INPUTS = [...DETAIL_NAMES, ...OPTION_NAMES, "axes", "project", "executor", "job_options"];

/** Return the fields of a request that say where its runs train. */
function placeOf(executor: ExecutorName | null, jobOptions: string) {
  const options = jobOptions.split("\n").map((line) => line.trim());
  const given = options.filter((line) => line !== "");
  return {
    ...(executor !== null && { executor }),
    ...(executor === "slurm" && given.length > 0 && { job_options: given }),
  };
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

/** Return the study if a field has several values, presets are compared, or the form is for a study. */
function asStudy(
  config: ConfigDraft,
  details: Details,
  options: StudyOptions,
  isStudy: boolean,
): StudySpecification | null {
  const varied = config.fields.filter(({ name }) => config.series[name]);
  const isOne = varied.length + options.presets.length + options.others.length === 0;
  if (isOne && !isStudy) return null;
  const titles = [
    ...(options.presets.length > 0 ? ["presets"] : []),
    ...varied.map(({ title }) => title.toLowerCase()),
  ];
  const env = String(config.values["env"]).replace(/^ALE\//, "");
  const usual = `${config.variant?.title ?? "Runs"} on ${env}`;
  return studyOf({
    name: details.name.trim() || [usual, titles.join(", ")].filter(Boolean).join(": "),
    question: details.notes,
    config: config.values,
    reference: config.reference.values,
    fields: config.fields,
    series: config.series,
    options,
  });
}

const confirmed = (study: StudySpecification, cost: StudyCost | null): StartStudy =>
  cost?.confirmedSteps ? { ...study, confirm_steps: cost.confirmedSteps } : study;

/** Return the URL to open: a comparison grouped by seed if all runs exist and fit, else the study's page. */
function addressOf(study: Study, isStudy: boolean): string {
  if (isStudy || study.verdict !== null) return `/studies/${study.id}`;
  const ids = study.table.flatMap(({ runs }) => runs.map(({ run_id }) => run_id));
  return ids.length <= MAX_RUNS && ids.every((id) => id !== null)
    ? `/compare?runs=${ids.join(",")}&study=${study.id}`
    : `/studies/${study.id}`;
}

/** Return the priority, or 0 while the text is invalid. */
const priorityOf = ({ priority }: Details): number => {
  const number = parseNumber(priority);
  return number !== null && Number.isInteger(number) ? number : 0;
};

function checkDetails(details: Details): FieldErrors {
  const priority = parseNumber(details.priority || "0");
  return priority !== null && Number.isInteger(priority) ? {} : { priority: "Must be a whole number." };
}

/** Return the fields from top to bottom, so that the first error gets the focus. */
function inShownOrder(config: ConfigDraft, isStudy: boolean): { name: string }[] {
  const { essential, others } = splitEssential(config.fields);
  const fields = [...essential, ...sectionsOf(others).flatMap(([, section]) => section)];
  const options = OPTION_NAMES.map((name) => ({ name }));
  const details = DETAIL_NAMES.map((name) => ({ name }));
  return isStudy ? [...options, ...fields, ...details] : [...fields, ...options, ...details];
}

function pick(errors: FieldErrors, wanted: (name: string) => boolean): FieldErrors {
  return Object.fromEntries(Object.entries(errors).filter(([name]) => wanted(name)));
}
