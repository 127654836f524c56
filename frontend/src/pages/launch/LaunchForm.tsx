import { Radio, Stack, Text, Title } from "@mantine/core";
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
import { DETAIL_NAMES, type Details, DetailsFields, NO_DETAILS, type Where } from "./DetailsFields";
import { EnvironmentPicker } from "./EnvironmentPicker";
import { LAST_LAUNCH_KEY, type LastLaunch } from "./lastLaunch";
import { LaunchSummary } from "./LaunchSummary";
import { requestedNeeds } from "./needs";
import { PresetCards } from "./PresetCards";
import { referenceFor } from "./startingPoint";
import { namedAsInForm, NO_OPTIONS, OPTION_NAMES, studyOf, type StudyOptions } from "./study";
import { StudyFields } from "./StudyFields";
import { type StudyCost, useStudyCost } from "./useStudyCost";
import classes from "./launch.module.css";

export interface LaunchFormProps {
  variants: Variant[];
  presets: readonly Preset[];
  environments: readonly Environment[];
  start: StartingPoint;
  /** True if the form makes a study even without varied fields. */
  isStudy: boolean;
  /** The study to clone. */
  clonedStudy: { details: Partial<Details>; options: StudyOptions } | null;
  /** The initial place. */
  where: Where;
  onPreset: (name: string, env: string) => void;
  /** Called when another method or environment is chosen, with its starting point. */
  onMethod: (reference: Reference, env: string) => void;
}

/** Form that launches a run, or a study if a field has several values. */
export function LaunchForm(props: LaunchFormProps) {
  const { variants, presets, environments, isStudy, onPreset, onMethod } = props;
  const form = useFormDraft(props);
  const { config, details, options, study, where } = form;
  const cost = useStudyCost(study);
  const [isTextOpen, textDialog] = useDisclosure(false);
  const env = String(config.values["env"] ?? "");
  const { submit, detailErrors, problems, isSending, clearErrors } = useSubmit(props, form, cost);
  const element = useRef<HTMLFormElement>(null);
  const { key: visit, state: visitState } = useLocation();
  useEffect(() => {
    if (visitState === FROM_KEYBOARD) element.current?.querySelector("input")?.focus();
  }, [visit, visitState]);

  function begin(variant: Variant, id: string, values: RunConfig = {}) {
    const reference = referenceFor(variant, presets, environments, id);
    config.chooseMethod(variant, reference, id, values);
    form.carryTo(keyOf(reference, id));
    onMethod(reference, id);
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

  function choosePreset(preset: string, isFound: boolean) {
    const chosen = presets.find(({ name }) => name === preset);
    if (!chosen) return;
    // Keep the environment if the preset can be used for it.
    const familyOf = (id: unknown) => environments.find((known) => known.id === id)?.family.name;
    const own = String(chosen.config["env"]);
    const id = !isFound && familyOf(own) === familyOf(env) ? env : own;
    form.carryTo(keyOf({ preset, values: chosen.config }, id));
    onPreset(preset, id);
  }

  function applyText(values: RunConfig) {
    const variant = variantFor(variants, values["algorithm"] ?? config.variant?.algorithm);
    const isOther = values["algorithm"] !== undefined || values["env"] !== undefined;
    if (variant && isOther) begin(variant, String(values["env"] ?? env), values);
    else config.apply(values);
  }

  function startOver() {
    form.startOver();
    clearErrors();
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
        onChange={form.changeOptions}
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
        {form.restored && <RestoredDraftNote onStartOver={startOver} />}
        <ConfigTextModal
          opened={isTextOpen}
          values={config.values}
          variants={variants}
          onApply={applyText}
          onClose={textDialog.close}
        />
        <EnvironmentPicker config={config} environments={environments} onChoose={chooseEnvironment} />
        <MethodCards
          variants={variants}
          chosen={config.variant?.algorithm}
          environment={environments.find(({ id }) => id === config.values["env"])}
          onChoose={(variant) => begin(variant, env)}
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
          where={where}
          errors={detailErrors}
          isStudy={study !== null}
          onDetails={form.changeDetails}
          onWhere={form.changeWhere}
        />
      </Stack>
      <LaunchSummary
        config={config}
        environments={environments}
        cost={cost}
        priority={priorityOf(details)}
        where={where}
        onText={textDialog.open}
        problems={problems}
        busy={isSending}
      />
    </form>
  );
}

/** State of the form, which the browser tab stores, and the study that it describes. */
function useFormDraft({ variants, start, isStudy, clonedStudy, where: initial }: LaunchFormProps) {
  const form = isStudy ? "study" : "launch";
  const detailsKey = (key: string) => `arcadia-${form}-details-${key}`;
  const optionsKey = (key: string) => `arcadia-${form}-options-${key}`;
  const config = useConfigDraft(variants, start, form, true);
  const kept = useStoredDraft<Details>(detailsKey(start.key), { ...NO_DETAILS, ...clonedStudy?.details });
  const keptOptions = useStoredDraft<StudyOptions>(optionsKey(start.key), clonedStudy?.options ?? NO_OPTIONS);
  const [chosenWhere, setWhere] = useState<Partial<Where>>({});
  const where = { ...initial, ...chosenWhere };
  const study = asStudy(config, kept.value, keptOptions.value, isStudy);
  return {
    config,
    details: kept.value,
    options: keptOptions.value,
    where,
    study: study && { ...study, ...executorOf(where) },
    restored: config.restored || kept.restored || keptOptions.restored,
    changeDetails: kept.change,
    changeOptions: keptOptions.change,
    changeWhere: (changes: Partial<Where>) => setWhere((now) => ({ ...now, ...changes })),
    carryTo(key: string) {
      kept.carryTo(detailsKey(key));
      keptOptions.carryTo(optionsKey(key));
    },
    startOver() {
      config.startOver();
      kept.startOver();
      keptOptions.startOver();
    },
    /** Remove the stored draft after a launch. */
    forget() {
      config.forget();
      kept.forget();
      keptOptions.forget();
    },
  };
}

/** Launch the run or start the study of the form, and open it. Errors appear at their fields, or as problems. */
function useSubmit(
  { presets, isStudy }: LaunchFormProps,
  form: ReturnType<typeof useFormDraft>,
  cost: StudyCost | null,
) {
  const { config, details, study, where } = form;
  const [detailErrors, setDetailErrors] = useState<FieldErrors>({});
  const [problems, setProblems] = useState<string[]>([]);
  const launch = useLaunchRun();
  const startStudy = useStartStudy();
  const navigate = useNavigate();

  /** Send the form. Return the URL to open. */
  async function send(): Promise<string> {
    const project = where.project === MAIN_PROJECT ? {} : { project: where.project };
    if (study) return urlOf(await startStudy.mutateAsync({ ...confirmed(study, cost), ...project }), isStudy);
    const run = await launch.mutateAsync({ ...requestOf(config, details), ...project, ...executorOf(where) });
    return `/runs/${run.id}`;
  }

  async function submit(event: FormEvent) {
    event.preventDefault();
    setProblems([]);
    const checked = checkDetails(details);
    setDetailErrors(checked);
    config.showAllErrors();
    const errors = { ...config.allErrors, ...checked };
    if (Object.keys(errors).length > 0) return focusFirst(inShownOrder(config, isStudy), errors);
    try {
      const url = await send();
      form.forget();
      browserStorage.keep(LAST_LAUNCH_KEY, {
        preset: config.reference.preset ?? nearestPreset(presets, config.values)?.name ?? null,
        method: config.variant?.algorithm ?? null,
        env: String(config.values["env"] ?? ""),
      } satisfies LastLaunch);
      await navigate(url);
    } catch (error) {
      const names = [...config.fields.map((field) => field.name), ...OTHER_INPUTS];
      const { byField, general } = placeErrors(study ? namedAsInForm(error, study) : error, names);
      config.takeServerErrors(pick(byField, (name) => !OTHER_INPUTS.includes(name)));
      setDetailErrors(pick(byField, (name) => OTHER_INPUTS.includes(name)));
      setProblems(general);
      focusFirst(inShownOrder(config, isStudy), byField);
    }
  }

  return {
    submit,
    detailErrors,
    problems,
    isSending: isSubmitted(launch) || isSubmitted(startStudy),
    clearErrors: () => setDetailErrors({}),
  };
}

/** Press the submit button with Ctrl+Enter or Cmd+Enter, except in a dialog that the form has opened. */
function submitOnModEnter(event: KeyboardEvent<HTMLFormElement>): void {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  if (!event.currentTarget.contains(event.target as Node)) return;
  event.preventDefault();
  event.currentTarget.querySelector<HTMLButtonElement>("button[type=submit]:not([data-loading])")?.click();
}

/** Names of inputs that are not configuration fields. */
const OTHER_INPUTS = [
  ...DETAIL_NAMES,
  ...OPTION_NAMES,
  "axes",
  "project",
  "executor",
  "job_options",
  "needs",
];

/** Return the fields of a request that say who trains its runs. */
function executorOf({ executor, jobOptions, needs, isInterruptible }: Where) {
  const needed = requestedNeeds(needs);
  const options = jobOptions.split("\n").map((line) => line.trim());
  const given = options.filter((line) => line !== "");
  return {
    ...(executor !== null && { executor }),
    ...(executor === "slurm" && given.length > 0 && { job_options: given }),
    ...((executor ?? "workers") === "workers" && Object.keys(needed).length > 0 && { needs: needed }),
    ...((executor ?? "workers") === "workers" && isInterruptible && { interruptible: true }),
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
function urlOf(study: Study, isStudy: boolean): string {
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

interface MethodCardsProps {
  variants: readonly Variant[];
  chosen: string | undefined;
  /** The chosen environment, if it is known. */
  environment: Environment | undefined;
  onChoose: (variant: Variant) => void;
}

/** Cards to choose a method. A method that cannot learn the environment is disabled, with the reason. */
function MethodCards({ variants, chosen, environment, onChoose }: MethodCardsProps) {
  const choose = (algorithm: string) => {
    const variant = variants.find((candidate) => candidate.algorithm === algorithm);
    if (variant) onChoose(variant);
  };
  return (
    <Radio.Group value={chosen ?? null} onChange={choose} label="Method" labelProps={{ fw: 600 }}>
      <div className={classes.methods}>
        {variants.map((variant) => {
          const unfit = environment && !environment.algorithms.some((name) => name === variant.algorithm);
          return (
            <Radio.Card
              key={variant.algorithm}
              value={variant.algorithm}
              className={classes.method}
              disabled={Boolean(unfit)}
            >
              <Text fw={600} size="sm" component="span">
                {variant.title}
              </Text>
              <Text
                size="xs"
                c="dimmed"
                component="span"
                className={classes.methodHelp}
                data-unfit={unfit || undefined}
              >
                {unfit ? `Not for ${environment.title}: ${environment.unfit_because}.` : variant.summary}
              </Text>
            </Radio.Card>
          );
        })}
      </div>
    </Radio.Group>
  );
}
