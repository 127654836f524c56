import {
  ActionIcon,
  Anchor,
  Badge,
  Box,
  Button,
  Group,
  Menu,
  Modal,
  Skeleton,
  Stack,
  TagsInput,
  Text,
  TextInput,
  Title,
} from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import {
  IconCircleDashed,
  IconDots,
  IconPlayerPause,
  IconPlayerPlay,
  IconPlayerPlayFilled,
  IconPlugConnectedX,
  IconServer,
  IconTag,
  IconTrash,
  IconTransferOut,
} from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { Link } from "react-router";
import { executorsQuery, schedulerTitle, useChooseDefaultExecutor } from "@/api/executors";
import type { AllowedPlugin, Worker } from "@/api/types";
import { pluginsQuery, useEditWorker, useRemoveWorker, workersQuery } from "@/api/workers";
import { type Column, DataTable } from "@/ui/DataTable";
import { EmptyState } from "@/ui/EmptyState";
import { ExecutorSelect } from "@/ui/ExecutorSelect";
import { bytes } from "@/ui/format";
import { TimeAgo } from "@/ui/Quantity";
import { MenuAction } from "@/ui/MenuAction";
import { QueryError } from "@/ui/QueryError";
import { usePageTitle } from "@/ui/usePageTitle";
import { AddHost } from "./AddHost";
import { SchedulerCard } from "./SchedulerCard";
import { StartForecasts } from "./StartForecasts";
import classes from "./workers.module.css";

/** List of workers with their states and current runs. */
export default function WorkersPage() {
  usePageTitle("Workers");
  const workers = useQuery(workersQuery);
  return (
    <Stack className={classes.page} gap="md">
      <Stack gap={4}>
        <Title order={1}>Workers</Title>
        <Text size="sm" c="dimmed" role="status">
          {workers.data && summary(workers.data)}
        </Text>
        <Anchor component={Link} to="/usage" size="sm" w="fit-content">
          Core and GPU hours
        </Anchor>
      </Stack>
      {workers.isError && !workers.data && (
        <QueryError error={workers.error} retry={() => void workers.refetch()} />
      )}
      {workers.isPending && <Skeleton height={160} radius="sm" role="status" aria-label="Loading workers…" />}
      {workers.data?.length === 0 && (
        <EmptyState icon={IconServer} title="No workers connected">
          A worker trains queued runs, one at a time. Add a host to train your runs.
        </EmptyState>
      )}
      {workers.data && workers.data.length > 0 && <WorkerTable workers={workers.data} />}
      {workers.data && workers.data.length > 0 && <StartForecasts />}
      {workers.data && <ServerPlugins />}
      {workers.data && <AddHost />}
      {workers.data && <SchedulerCard name="slurm" />}
      {workers.data && <SchedulerCard name="ray" />}
      {workers.data && <DefaultExecutor />}
    </Stack>
  );
}

/** Where runs train if neither they nor their project choose a place. */
function DefaultExecutor() {
  const { data = [] } = useQuery(executorsQuery);
  const choose = useChooseDefaultExecutor();
  return (
    <Box maw={640}>
      <ExecutorSelect
        label="Train by default on"
        description="A project may have another default, and each run and study may choose."
        value={data.find((each) => each.is_default)?.name ?? null}
        disabled={choose.isPending}
        onChange={(name) => name && choose.mutate(name)}
      />
    </Box>
  );
}

function summary(workers: readonly Worker[]): string {
  const count = (state: Worker["state"]) => workers.filter((worker) => worker.state === state).length;
  const gone = count("gone");
  const paused = workers.filter(({ state, desired }) => state === "idle" && desired !== "work").length;
  const idle = count("idle") - paused;
  const rest = [paused > 0 && `, ${paused} paused`, gone > 0 && `, ${gone} gone`].filter(Boolean).join("");
  return `${count("busy")} training, ${idle} idle${rest}`;
}

function WorkerTable({ workers }: { workers: readonly Worker[] }) {
  return (
    <div className={classes.frame}>
      <DataTable
        className={classes.table}
        verticalSpacing="sm"
        horizontalSpacing="md"
        rows={workers}
        rowKey={({ name }) => name}
        rowProps={({ state }) => ({ "data-gone": state === "gone" || undefined })}
        columns={[
          { title: "Worker", cell: (worker) => <WorkerName worker={worker} /> },
          ...FACTS.map(([title, cell]): Column<Worker> => ({
            title,
            cell,
            // The label of the line in the card of a narrow screen.
            cellProps: () => ({ "data-label": title }),
          })),
          ...(workers.some(({ may_edit }) => may_edit)
            ? [
                {
                  title: "Actions",
                  isTitleHidden: true,
                  cell: (worker: Worker) => worker.may_edit && <WorkerMenu worker={worker} />,
                  cellProps: () => ({ "data-label": "Actions" }),
                },
              ]
            : []),
        ]}
      />
    </div>
  );
}

const FACTS: readonly [title: string, cell: (worker: Worker) => ReactNode][] = [
  ["State", (worker) => <WorkerState worker={worker} />],
  [
    "Current run",
    ({ run_id, state }) =>
      run_id === null ? (
        state === "busy" ? (
          "A run of another project"
        ) : (
          "–"
        )
      ) : (
        <Anchor component={Link} to={`/runs/${run_id}`} size="sm">
          Run {run_id}
        </Anchor>
      ),
  ],
  [
    "Queue",
    ({ queue, executor }) =>
      executor === "workers" ? queue.toUpperCase() : `${schedulerTitle(executor)} job`,
  ],
  ["Device", (worker) => <Devices worker={worker} />],
  ["Cores", ({ cores }) => cores],
  ["Memory", ({ memory_bytes }) => bytes(memory_bytes)],
  ["Last seen", ({ last_seen_at }) => <TimeAgo time={last_seen_at} />],
];

/** Installs the build of this server. The version may be equal, and the dependencies rarely change. */
const UPDATE = `pip install --force-reinstall --no-deps --find-links ${window.location.origin}/client/ arcadia`;

function WorkerName({ worker }: { worker: Worker }) {
  return (
    <>
      <div className={classes.name}>{worker.name}</div>
      <div className={classes.dim}>
        {worker.host_name ? `${worker.host_name} (${worker.host})` : worker.host} · process {worker.pid} ·
        version {worker.version}
      </div>
      {worker.labels.length > 0 && (
        <Group gap={4} mt={2}>
          {worker.labels.map((label) => (
            <Badge key={label} size="xs" variant="default" tt="none">
              {label}
            </Badge>
          ))}
        </Group>
      )}
      {worker.is_other_build && worker.state !== "gone" && (
        <div className={classes.warning}>
          The worker's build differs from the server's. Update one of them. On the host, run this and restart
          the worker: <code>{UPDATE}</code>
        </div>
      )}
      {worker.low_disk_megabytes !== null && (
        <div className={classes.warning}>{describeDisk(worker.low_disk_megabytes)}</div>
      )}
      {worker.plugins.map((plugin) => (
        <PluginLine key={plugin.name} plugin={plugin} isGone={worker.state === "gone"} />
      ))}
    </>
  );
}

/** The device of a worker, or the GPUs of its host. */
function Devices({ worker: { device, gpus } }: { worker: Worker }) {
  if (gpus.length === 0) return device;
  return gpus.map(({ index, name, memory_bytes, foreign_bytes, is_busy }) => (
    <div key={index}>
      {index}: {name}, {bytes(memory_bytes)}
      {is_busy && (
        <div className={classes.warning}>
          Others use {bytes(foreign_bytes)} of it, so no run starts on it.
        </div>
      )}
    </div>
  ));
}

function describeDisk(free: number): string {
  if (free === 0) return "The worker's disk is full. Its work waits until there is space.";
  return `The worker's disk is almost full: ${free} MB are free.`;
}

/** A plug-in of a worker with its problems. */
function PluginLine({ plugin, isGone }: { plugin: Worker["plugins"][number]; isGone: boolean }) {
  const problem = plugin.problem ?? (plugin.differs ? "The server has another version or lacks it." : null);
  return (
    <div className={problem && !isGone ? classes.warning : classes.dim}>
      plug-in {[plugin.name, plugin.version].filter(Boolean).join(" ")}
      {problem && `: ${problem}`}
    </div>
  );
}

/** The plug-ins that this server is allowed to load. */
function ServerPlugins() {
  const { data: plugins = [] } = useQuery(pluginsQuery);
  if (plugins.length === 0) return null;
  return (
    <Stack gap="xs" component="section" aria-label="Plug-ins of the server">
      <Title order={2}>Plug-ins of the server</Title>
      {plugins.map(({ name, version, problem, parts }) => (
        <div key={name}>
          <div className={classes.name}>
            {name} {version}
          </div>
          <div className={problem ? classes.warning : classes.dim}>{problem ?? describeParts(parts)}</div>
        </div>
      ))}
    </Stack>
  );
}

/** Return the parts of a plug-in by kind, such as "method: gae · presets: gae-cartpole, gae-catch". */
function describeParts(parts: AllowedPlugin["parts"]): string {
  const kinds = [...new Set(parts.map(({ kind }) => kind))];
  const describe = (kind: string) => {
    const names = parts.filter((part) => part.kind === kind).map(({ name }) => name);
    return `${kind}${names.length > 1 ? "s" : ""}: ${names.join(", ")}`;
  };
  return kinds.map(describe).join(" · ");
}

const STATES = {
  idle: { name: "Idle", Sign: IconCircleDashed },
  busy: { name: "Training", Sign: IconPlayerPlayFilled },
  gone: { name: "Gone", Sign: IconPlugConnectedX },
};
const PAUSED = { name: "Paused", Sign: IconPlayerPause };

/** What a worker does, and whether it takes other work. */
function WorkerState({ worker: { state, desired } }: { worker: Worker }) {
  const isPaused = desired !== "work" && state !== "gone";
  const { name, Sign } = isPaused && state === "idle" ? PAUSED : STATES[state];
  return (
    <div>
      <span className={classes.state} data-state={state}>
        <Sign size={14} aria-hidden />
        {name}
      </span>
      {isPaused && state === "busy" && (
        <div className={classes.dim}>
          {desired === "drain" ? "then paused, its run is given back" : "then paused"}
        </div>
      )}
    </div>
  );
}

/** Menu that pauses, drains or resumes a worker, or removes a worker that is gone. */
function WorkerMenu({ worker }: { worker: Worker }) {
  const edit = useEditWorker(worker.name);
  const remove = useRemoveWorker(worker.name);
  const isGone = worker.state === "gone";
  const [isLabeling, labels] = useDisclosure();
  return (
    <>
      {isLabeling && <LabelsModal worker={worker} onClose={labels.close} />}
      <Menu position="bottom-end" withinPortal>
        <Menu.Target>
          <ActionIcon size={24} variant="subtle" aria-label={`Actions for ${worker.name}`}>
            <IconDots size={16} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {worker.desired === "work" ? (
            <MenuAction
              Icon={IconPlayerPause}
              label="Pause after its work"
              disabled={edit.isPending}
              onClick={() => edit.mutate({ desired: "pause" })}
            />
          ) : (
            <MenuAction
              Icon={IconPlayerPlay}
              label="Take work again"
              disabled={edit.isPending}
              onClick={() => edit.mutate({ desired: "work" })}
            />
          )}
          {worker.desired !== "drain" && (
            <MenuAction
              Icon={IconTransferOut}
              label="Drain: put its work back in the queue"
              disabled={edit.isPending}
              onClick={() => edit.mutate({ desired: "drain" })}
            />
          )}
          <MenuAction Icon={IconTag} label={`Labels and name of ${worker.host}…`} onClick={labels.open} />
          <MenuAction
            Icon={IconTrash}
            label="Remove from the list"
            blocked={isGone ? null : "Stop its process first."}
            disabled={remove.isPending}
            onClick={() => remove.mutate()}
          />
        </Menu.Dropdown>
      </Menu>
    </>
  );
}

/** Dialog with the labels and the name of a host. */
function LabelsModal({ worker, onClose }: { worker: Worker; onClose: () => void }) {
  const [labels, setLabels] = useState(worker.labels);
  const [name, setName] = useState(worker.host_name);
  const edit = useEditWorker(worker.name);
  return (
    <Modal
      opened
      onClose={onClose}
      title={`Labels and name of ${worker.host}`}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      <Stack gap="md">
        <TagsInput
          label="Labels"
          description="Runs that need a label train only on hosts that have it."
          value={labels}
          maxTags={10}
          error={edit.isError ? edit.error.message : undefined}
          onChange={setLabels}
          data-autofocus
        />
        <TextInput
          label="Name"
          description="Shown beside the host's own name."
          placeholder={worker.host}
          maxLength={100}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Button
          loading={edit.isPending}
          onClick={() => edit.mutate({ labels, host_name: name }, { onSuccess: onClose })}
        >
          Save
        </Button>
      </Stack>
    </Modal>
  );
}
