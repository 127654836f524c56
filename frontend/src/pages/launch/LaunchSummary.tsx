import { ActionIcon, Button, Group, Stack, Text, Title } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconArrowBackUp, IconFileCode } from "@tabler/icons-react";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { executorsQuery, schedulerTitle } from "@/api/executors";
import { MAIN_PROJECT } from "@/api/projects";
import { runForecastQuery } from "@/api/runs";
import type {
  ConfigValue,
  Environment,
  ExecutorName,
  LaunchRequest,
  RunConfig,
  RunForecast,
} from "@/api/types";
import { shown } from "@/config-form/draft";
import type { FormField } from "@/config-form/schema";
import type { ConfigDraft } from "@/config-form/useConfigDraft";
import { ConfirmCost } from "@/ui/ConfirmCost";
import { type Column, DataTable } from "@/ui/DataTable";
import { bytes, duration, exact, plural, short } from "@/ui/format";
import { FormErrors } from "@/ui/FormErrors";
import { runRange, studyCostText } from "@/ui/studyCost";
import { useNow } from "@/ui/useNow";
import type { Where } from "./DetailsFields";
import { requestedNeeds } from "./needs";
import type { StudyCost } from "./useStudyCost";
import classes from "./launch.module.css";

interface LaunchSummaryProps {
  config: ConfigDraft;
  environments: readonly Environment[];
  /** Cost of the study, if a field has several values. */
  cost: StudyCost | null;
  /** Priority of a single run. */
  priority: number;
  where: Where;
  /** General errors, and the number of fields with errors. */
  problems: readonly string[];
  busy: boolean;
  /** Called to paste or copy the settings. */
  onText: () => void;
}

/** Priority of the runs of a study. */
const STUDY_PRIORITY = -10;

/** Summary of the run or study before its launch. */
export function LaunchSummary({
  config,
  environments,
  cost,
  priority,
  where,
  problems,
  busy,
  onText,
}: LaunchSummaryProps) {
  const { values } = config;
  const environment = environments.find((candidate) => candidate.id === values["env"]);
  const wrong = Object.keys(config.errors).length;
  return (
    <Stack component="section" gap="sm" className={classes.summary} aria-label="Summary">
      <Title order={2}>
        {config.variant?.title ?? "Run"} on {environment?.title ?? shown(values["env"])}
      </Title>
      {/* Above everything that appears later, so that they never move. On a phone, they are at the bottom. */}
      <div className={classes.actions}>
        <Button type="submit" size="md" loading={busy} disabled={cost?.ready === false} fullWidth>
          {cost ? startLabel(cost) : "Launch run"}
        </Button>
        <Button size="xs" variant="default" leftSection={<IconFileCode size={16} />} onClick={onText}>
          Paste or copy settings
        </Button>
      </div>
      <FormErrors messages={problems} />
      {wrong > 0 && (
        <Text size="sm" c="var(--mantine-color-error)" role="alert">
          {plural(wrong, "field needs", "fields need")} a valid value.
        </Text>
      )}
      <Text size="sm" title={exactSteps(values["total_steps"])}>
        {lengthOf(values, environment)}
      </Text>
      <Differences config={config} />
      <RunNeeds
        values={values}
        priority={cost ? STUDY_PRIORITY : priority}
        where={where}
        isStudy={cost !== null}
        isInvalid={Object.keys(config.allErrors).length > 0}
      />
      {cost ? (
        <CostOfStudy cost={cost} />
      ) : (
        <Text size="xs" c="dimmed">
          Several values make a study: seeds 1-5, numbers 1e-4, 3e-4 or log(1e-4, 1e-2) x 20.
        </Text>
      )}
    </Stack>
  );
}

/** Number of runs and their cost, with a confirmation if required. */
function CostOfStudy({ cost }: { cost: StudyCost }) {
  const { preview, refused } = cost;
  return (
    <Stack gap="xs">
      <div role="status" aria-label="Cost">
        <Text size="sm" fw={500}>
          {preview ? studyCostText(preview) : cost.counting ? "Counting runs…" : ""}
        </Text>
        <Text size="xs" c="dimmed">
          Single runs start before the runs of a study.
        </Text>
      </div>
      {preview && !refused && (
        <ConfirmCost cost={preview} confirmed={cost.confirmed} onChange={cost.confirm} />
      )}
      {refused && (
        <Text size="sm" c="var(--mantine-color-error)" role="alert">
          {refused}
        </Text>
      )}
    </Stack>
  );
}

const startLabel = ({ preview }: StudyCost) =>
  preview ? `Start study · ${runRange(preview)}` : "Start study";

function exactSteps(steps: ConfigValue | undefined): string | undefined {
  return typeof steps === "number" ? exact(steps, "steps") : undefined;
}

function lengthOf(values: RunConfig, environment: Environment | undefined): string {
  const {
    total_steps: steps,
    num_envs: envs,
    num_actors: actors,
    num_agents: agents,
    t_max: rollout,
  } = values;
  if (typeof steps !== "number") return "";
  const perStep = environment?.frames_per_step ?? 1;
  const parts = [short(steps, "steps") + (perStep > 1 ? ` (${short(steps * perStep, "frames")})` : "")];
  if (typeof envs === "number" && typeof rollout === "number") {
    parts.push(`${plural(envs, "environment")}, ${plural(envs * rollout, "step")} per update`);
  }
  if (typeof actors === "number" && typeof rollout === "number") {
    parts.push(`${plural(actors, "actor-learner")}, ${plural(rollout, "step")} per update`);
  }
  if (typeof agents === "number") parts.push(`${plural(agents, "agent")}`);
  return parts.join(" in ");
}

/** The changed fields with the reference's values. They can be reset one by one, or all at once. */
function Differences({ config }: { config: ConfigDraft }) {
  const { changed, reference } = config;
  const canReset = ({ name }: FormField) => name !== "env";
  if (changed.length === 0)
    return (
      <Text size="xs" c="dimmed">
        Unchanged from “{reference.title}”.
      </Text>
    );
  return (
    <section aria-label="Differences">
      <Group justify="space-between" gap="xs" wrap="nowrap">
        <Text size="xs" c="dimmed">
          Changed from “{reference.title}”:
        </Text>
        {changed.some(canReset) && (
          <Button size="compact-xs" variant="subtle" style={{ flexShrink: 0 }} onClick={config.resetAll}>
            Reset all
          </Button>
        )}
      </Group>
      <ul className={classes.differences}>
        {changed.map((field) => (
          <li key={field.name}>
            <span>{field.title}</span>
            <span>
              {shown(reference.values[field.name] ?? field.initial)} → {currentText(config, field)}
            </span>
            {canReset(field) && (
              <ActionIcon
                size={24}
                variant="subtle"
                aria-label={`Reset ${field.title} in the summary`}
                title={`Reset ${field.title}`}
                onClick={() => config.reset(field.name)}
              >
                <IconArrowBackUp size={16} />
              </ActionIcon>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function currentText({ series, draft, values }: ConfigDraft, { name }: FormField): string {
  if (series[name]) return String(draft[name]);
  return values[name] === undefined ? "?" : shown(values[name]);
}

interface RunNeedsProps {
  values: RunConfig;
  priority: number;
  where: Where;
  /** True if the form makes several such runs. */
  isStudy: boolean;
  /** True if some field has an invalid value. */
  isInvalid: boolean;
}

/** Requirements of a run next to the resources of the workers, its duration, and its expected start. */
function RunNeeds({ values, priority, where, isStudy, isInvalid }: RunNeedsProps) {
  const { executor, project, needs } = where;
  const [settled] = useDebouncedValue(
    JSON.stringify({
      config: values,
      priority,
      ...(executor !== null && { executor }),
      ...(project !== MAIN_PROJECT && { project }),
      ...((executor ?? "workers") === "workers" && { needs: requestedNeeds(needs) }),
    }),
    400,
    { leading: true },
  );
  const { data, error, isFetching } = useQuery({
    ...runForecastQuery(JSON.parse(settled) as LaunchRequest),
    enabled: !isInvalid,
    placeholderData: keepPreviousData,
  });
  const { data: executors = [] } = useQuery(executorsQuery);
  const schedulers = executors.filter(({ name }) => name !== "workers").map(({ title }) => title);
  const now = useNow();
  return (
    <Stack component="section" gap={4} aria-label="Requirements" aria-busy={isFetching}>
      {isInvalid && <Note>Requirements are shown once all fields are valid.</Note>}
      {!isInvalid && error && <Note>Requirements are unknown: {error.message}</Note>}
      {!isInvalid && !error && !data && <Note>Estimating requirements…</Note>}
      {!isInvalid && !error && data && (
        <>
          <NeedsTable forecast={chosenPlace(data, executor)} device={String(values["device"])} />
          {/* The cost of a study says that its duration is unknown. */}
          {!(isStudy && data.seconds === null) && <Text size="sm">{durationText(data, isStudy)}</Text>}
          {data.steps_per_second !== null && (
            <Note>
              Measured at {short(data.steps_per_second, "steps/s")} in {plural(data.measured_runs, "run")} of{" "}
              {data.measured_on}.
            </Note>
          )}
          <Text size="sm">{startText(chosenPlace(data, executor), now, schedulers)}</Text>
          {data.warnings.map((warning) => (
            <Text key={warning} size="sm" c="orange" role="status">
              {warning}
            </Text>
          ))}
        </>
      )}
    </Stack>
  );
}

/** Return a forecast for the chosen scheduler, also while the server is still asked about it. */
function chosenPlace(forecast: RunForecast, executor: ExecutorName | null): RunForecast {
  if (executor === null || executor === "workers" || forecast.executor === executor) return forecast;
  return { ...forecast, executor, start_unknown: `${schedulerTitle(executor)} decides when it starts.` };
}

function Note({ children }: { children: React.ReactNode }) {
  return (
    <Text size="xs" c="dimmed">
      {children}
    </Text>
  );
}

const UNMEASURED = "not measured";

function NeedsTable({ forecast, device }: { forecast: RunForecast; device: string }) {
  const { capacity, memory_bytes: memory, cores, gpu_memory_bytes: gpuMemory } = forecast;
  const gpus = capacity.devices.filter((name) => name !== "cpu");
  const isShort = memory !== null && capacity.memory_bytes !== null && memory > capacity.memory_bytes;
  const gpu = device === "cuda" ? (gpuMemory === null ? "required" : bytes(gpuMemory)) : "not required";
  const rows: [title: string, needed: string, present: string, short: boolean][] = [
    ["Memory", memory === null ? UNMEASURED : bytes(memory), bytes(capacity.memory_bytes), isShort],
    ["Cores", cores === null ? UNMEASURED : cores.toFixed(1), String(capacity.cores ?? "–"), false],
    ["GPU", gpu, gpus.join(", ") || "none", device === "cuda" && gpus.length === 0],
  ];
  const has: Column<(typeof rows)[number]> = {
    title: "Workers have",
    numeric: true,
    cell: ([, , present, short]) =>
      `${capacity.workers === 0 ? "no worker" : present}${short ? " (too little)" : ""}`,
    cellProps: ([, , , short]) => ({ c: short ? "var(--mantine-color-error)" : undefined }),
  };
  return (
    <DataTable
      fz="xs"
      verticalSpacing={4}
      horizontalSpacing={0}
      rows={rows}
      rowKey={([title]) => title}
      columns={[
        { title: "Resource", isRowHeader: true, cell: ([title]) => title },
        { title: "Needed", numeric: true, cell: ([, needed]) => needed },
        ...(forecast.executor === "workers" ? [has] : []),
      ]}
    />
  );
}

function durationText({ seconds, startup_seconds: startup }: RunForecast, isStudy: boolean): string {
  if (seconds === null) return "Duration unknown: no run like this has been measured here yet.";
  const start = startup === null ? "" : `, including ${duration(startup)} to start and end`;
  return `About ${duration(seconds)}${isStudy ? " per run" : ""}${start}.`;
}

/** Return the queue position of a new run and its expected start. Schedulers are the titles of those set up. */
export function startText(forecast: RunForecast, now: number, schedulers: readonly string[] = []): string {
  const { capacity, queue, runs_ahead: ahead, starts_in_seconds: wait, start_unknown: unknown } = forecast;
  const by = forecast.starts_by_seconds;
  const worker = `${queue === "gpu" ? "GPU" : "CPU"} worker`;
  if (forecast.executor !== "workers") return unknown ?? "";
  if (capacity.workers === 0) {
    return `No ${worker} is connected. Start one to train${schedulers.map((title) => `, or train on ${title}`).join("")}.`;
  }
  if (wait === 0 && ahead < capacity.idle) return `A ${worker} is free. Training starts immediately.`;
  const position =
    ahead === 0
      ? `Next in the queue: ${capacity.workers === 1 ? `the ${worker} is` : `all ${worker}s are`} busy.`
      : `Position ${ahead + 1} in the queue: ${plural(ahead, "run starts", "runs start")} earlier.`;
  if (wait === null) return `${position} Start unknown: ${unknown ?? "nothing is measured."}`;
  const limit = by === null ? "" : ` In 9 of 10 cases it starts within ${duration(by)}.`;
  const clock = new Date(now + wait * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  return `${position} Expected start, if nobody adds work ahead: in ${duration(wait)}${wait < 86_400 ? `, at ${clock}` : ""}.${limit}`;
}
