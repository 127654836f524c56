import { Stack, Text } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { executorsQuery, schedulerTitle } from "@/api/executors";
import { MAIN_PROJECT } from "@/api/projects";
import { runForecastQuery } from "@/api/runs";
import type { ExecutorName, LaunchRequest, RunConfig, RunForecast } from "@/api/types";
import { type Column, DataTable } from "@/ui/DataTable";
import { bytes, duration, plural, short } from "@/ui/format";
import { useNow } from "@/ui/useNow";
import { startText } from "./startText";

interface RunNeedsProps {
  values: RunConfig;
  priority: number;
  executor: ExecutorName | null;
  project: string;
  /** True if the form makes several such runs. */
  isStudy: boolean;
  /** True if some field has an invalid value. */
  isInvalid: boolean;
}

/** Requirements of a run next to the resources of the workers, its duration, and its expected start. */
export function RunNeeds({ values, priority, executor, project, isStudy, isInvalid }: RunNeedsProps) {
  const [settled] = useDebouncedValue(
    JSON.stringify({
      config: values,
      priority,
      ...(executor !== null && { executor }),
      ...(project !== MAIN_PROJECT && { project }),
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
