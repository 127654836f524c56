import { ActionIcon, Anchor, Badge, Button, Group, Text, TextInput, Title, Tooltip } from "@mantine/core";
import {
  IconArrowBackUp,
  IconBroadcast,
  IconPencil,
  IconPlayerPause,
  IconPlayerPlay,
  IconPlayerStop,
} from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Link, useNavigate } from "react-router";
import { checkpointsQuery } from "@/api/checkpoints";
import { isSubmitted } from "@/api/mutationState";
import { type RunAction, useEditRun, useForkRun } from "@/api/runs";
import type { Run } from "@/api/types";
import { RunMenu } from "@/run-actions/RunMenu";
import { useRunControls } from "@/run-actions/useRunControls";
import { BlockableButton } from "@/ui/BlockableButton";
import { projectAddress } from "@/ui/currentProject";
import { plural, short } from "@/ui/format";
import { ForEditors } from "@/ui/mayEdit";
import { notifyDone, notifyProblem } from "@/ui/notify";
import { OriginBadge } from "@/ui/OriginBadge";
import { Rate, Score, Short, TimeAgo } from "@/ui/Quantity";
import { RunDot } from "@/ui/RunDot";
import { RunProgress } from "@/ui/RunProgress";
import { RunStateBadge } from "@/ui/RunStateBadge";
import {
  bestReturnMeaning,
  hasAgent,
  hasMeansOnly,
  isReported,
  lastReturnMeaning,
  methodOnEnv,
  unsupportedReason,
} from "@/ui/states";
import { Thumbnail } from "@/ui/Thumbnail";
import { useCatchFocus } from "@/ui/useCatchFocus";
import { BestEvaluation } from "./evaluations/BestEvaluation";
import classes from "./run.module.css";

interface RunHeaderProps {
  run: Run;
  /** True if the tab below shows why the run failed. */
  isFailureBelow: boolean;
  onPurged: () => void;
}

/** Name, state, actions and key numbers of a run. */
export function RunHeader({ run, isFailureBelow, onPurged }: RunHeaderProps) {
  const navigate = useNavigate();
  return (
    <header>
      <div className={hasAgent(run) ? classes.header : classes.headerPlain}>
        {hasAgent(run) && (
          <Thumbnail fileId={run.poster_file_id} size={72} alt={`Latest frame of ${run.env}`} />
        )}
        <div style={{ minWidth: 0 }}>
          <div className={classes.name}>
            <RunDot run={run} />
            <RunTitle run={run} />
          </div>
          <Group gap={8} mt={4}>
            <RunStateBadge run={{ ...run, state_reason: null }} />
            {run.state_reason && !isFailureBelow && <Text size="sm">{run.state_reason}</Text>}
          </Group>
          {run.unsupported_because && (
            <Text size="sm" mt={4}>
              This run can only be read, because {run.unsupported_because}.
            </Text>
          )}
          <RunFacts run={run} />
        </div>
        <div className={classes.actions}>
          <RunActions run={run} />
          <RunMenu run={run} onLaunched={(copy) => void navigate(`/runs/${copy.id}`)} onPurged={onPurged} />
        </div>
      </div>
      <RunNumbers run={run} />
    </header>
  );
}

/** What somebody last requested of a run. */
const STOPPED: Record<Run["desired"], string> = { run: "resumed", pause: "paused", stop: "stopped" };

/** Return the needs of a run, such as "4 cores, 12 GB of GPU memory, a100". */
function needsText({ labels = [], cores, memory_gb, gpu_memory_gb }: Run["needs"]): string {
  const amounts = [
    cores && plural(cores, "core"),
    memory_gb && `${memory_gb} GB of memory`,
    gpu_memory_gb && `${gpu_memory_gb} GB of GPU memory`,
  ];
  return [...amounts.filter(Boolean), ...labels].join(", ");
}

function RunFacts({ run }: { run: Run }) {
  return (
    <div className={classes.facts} style={{ marginTop: 4 }}>
      <span>Run {run.id}</span>
      <OriginBadge run={run} />
      {methodOnEnv(run) && <span>{methodOnEnv(run)}</span>}
      <span>
        {isReported(run) ? "created" : "launched"} <TimeAgo time={run.created_at} />
        {run.launched_by && ` by ${run.launched_by}`}
      </span>
      {run.changed_by && <span>changed by {run.changed_by}</span>}
      {run.stopped_by && (
        <span>
          {STOPPED[run.desired]} by {run.stopped_by}
        </span>
      )}
      <span>
        project{" "}
        <Anchor component={Link} to={projectAddress(run.project)} inherit>
          {run.project}
        </Anchor>
      </span>
      {run.worker && <span>on {run.worker}</span>}
      {run.attempt > 1 && <span>attempt {run.attempt}</span>}
      {needsText(run.needs) && <span>needs {needsText(run.needs)}</span>}
      {run.interruptible && (
        <span>
          {run.interruptions > 0 ? `interrupted ${plural(run.interruptions, "time")}` : "may be interrupted"}
        </span>
      )}
      {run.parent?.run_id === null && <span>from a run of another project</span>}
      {run.parent?.run_id && (
        <Anchor component={Link} to={`/runs/${run.parent.run_id}`} size="sm">
          from run {run.parent.run_id}
        </Anchor>
      )}
      {run.study && (
        <Anchor component={Link} to={`/studies/${run.study.id}`} size="sm">
          study {run.study.name}
        </Anchor>
      )}
      {run.archived_at && <span>archived</span>}
      {run.tags.map((tag) => (
        <Badge key={tag} size="sm" variant="default" tt="none">
          {tag}
        </Badge>
      ))}
    </div>
  );
}

/** The current speed of a training run, or the mean speed of another run. */
function Speed({ run }: { run: Run }) {
  const steps = run.step - (run.parent?.step ?? 0);
  const showsMean = run.steps_per_second === null && run.trained_seconds > 0 && steps > 0;
  return (
    <div>
      <dt>{showsMean ? "Mean speed" : "Speed"}</dt>
      <dd>
        <Rate value={showsMean ? steps / run.trained_seconds : run.steps_per_second} />
      </dd>
    </div>
  );
}

function RunNumbers({ run }: { run: Run }) {
  return (
    <dl className={classes.numbers} style={{ marginTop: 16 }}>
      {run.total_steps !== null && (
        <div className={classes.wide}>
          <dt>Progress</dt>
          <dd>
            <RunProgress run={run} />
          </dd>
        </div>
      )}
      <div>
        <dt>Steps</dt>
        <dd>
          <Short value={run.step} />
        </dd>
      </div>
      {hasAgent(run) && (
        <div>
          <dt>Frames</dt>
          <dd>
            <Short value={run.frames} />
          </dd>
        </div>
      )}
      <Speed run={run} />
      {(!isReported(run) || run.last_return !== null) && <Returns run={run} />}
      {hasAgent(run) && <BestEvaluation run={run} />}
    </dl>
  );
}

function Returns({ run }: { run: Run }) {
  const title = hasMeansOnly(run) ? "Mean return" : "Return, last 100";
  return (
    <>
      <div>
        <dt>{title}</dt>
        <dd>
          <Score
            value={run.last_return}
            meaning={lastReturnMeaning(run, `Mean of the last 100 of ${plural(run.episodes, "episode")}`)}
          />
        </dd>
      </div>
      <div>
        <dt>Best return</dt>
        <dd>
          <Score value={run.best_return} meaning={bestReturnMeaning(run)} />
        </dd>
      </div>
    </>
  );
}

/** Name of a run, editable in place. Enter saves, Escape cancels. */
function RunTitle({ run }: { run: Run }) {
  const [draft, setDraft] = useState<string | null>(null);
  const edit = useEditRun(run.id);
  const editButton = useCatchFocus<HTMLButtonElement>(draft === null);

  if (draft === null) {
    return (
      <>
        <Title order={1}>{run.name}</Title>
        <ForEditors>
          <Tooltip label="Rename">
            <ActionIcon ref={editButton} size="sm" aria-label="Rename run" onClick={() => setDraft(run.name)}>
              <IconPencil size={16} />
            </ActionIcon>
          </Tooltip>
        </ForEditors>
      </>
    );
  }

  function save(event: FormEvent) {
    event.preventDefault();
    const name = draft?.trim() ?? "";
    if (name === "" || name === run.name) setDraft(null);
    else edit.mutate({ name }, { onSuccess: () => setDraft(null) });
  }

  return (
    <form onSubmit={save} style={{ flex: 1, minWidth: 0 }}>
      <Group gap={8} wrap="nowrap">
        <TextInput
          aria-label="Run name"
          value={draft}
          maxLength={200}
          data-autofocus
          autoFocus
          style={{ flex: 1 }}
          onChange={(event) => setDraft(event.currentTarget.value)}
          onKeyDown={(event) => event.key === "Escape" && setDraft(null)}
        />
        <Button type="submit" loading={edit.isPending}>
          Save
        </Button>
        <Button variant="default" onClick={() => setDraft(null)}>
          Cancel
        </Button>
      </Group>
    </form>
  );
}

const ACTIONS: { action: RunAction; label: string; tooltip: string; Icon: typeof IconPlayerStop }[] = [
  {
    action: "resume",
    label: "Resume",
    tooltip: "Continue from the last checkpoint. Environments start new episodes.",
    Icon: IconPlayerPlay,
  },
  {
    action: "pause",
    label: "Pause",
    tooltip: "Save a checkpoint and free the worker. You can resume the run.",
    Icon: IconPlayerPause,
  },
  {
    action: "stop",
    label: "Stop run",
    tooltip: "Save a checkpoint and end the run. You can undo this for 10 seconds.",
    Icon: IconPlayerStop,
  },
];

/** A script ends only if it checks for these requests. */
const SCRIPT_TOOLTIPS: Partial<Record<RunAction, string>> = {
  resume: "Let the script continue.",
  pause: "Request the script to end. You can run it again later.",
  stop: "Request the script to end. You can undo this for 10 seconds.",
};

/** Buttons for the actions that the run allows now. */
function RunActions({ run }: { run: Run }) {
  const { perform, isStopPending, undoStop, sending } = useRunControls(run);
  const undo = useCatchFocus<HTMLButtonElement>(isStopPending);
  const stop = useCatchFocus<HTMLButtonElement>(!isStopPending);
  if (isStopPending) {
    return (
      <Button ref={undo} size="xs" leftSection={<IconArrowBackUp size={14} aria-hidden />} onClick={undoStop}>
        Undo stop
      </Button>
    );
  }
  return (
    <>
      {ACTIONS.filter(({ action }) => run.actions[action] === null).map(
        ({ action, label, tooltip, Icon }) => (
          <Tooltip key={action} label={isReported(run) ? SCRIPT_TOOLTIPS[action] : tooltip}>
            <Button
              ref={action === "stop" ? stop : undefined}
              size="xs"
              variant={action === "resume" ? "filled" : "default"}
              leftSection={<Icon size={14} aria-hidden />}
              loading={sending === action}
              onClick={() => perform(action)}
            >
              {label}
            </Button>
          </Tooltip>
        ),
      )}
      {hasAgent(run) && (
        <BlockableButton
          blocked={run.actions.play}
          tooltip="Watch the agent play in real time, with its values and action probabilities."
          to={`/runs/${run.id}/live`}
          size="xs"
          variant="default"
          leftSection={<IconBroadcast size={14} aria-hidden />}
        >
          Watch live
        </BlockableButton>
      )}
      {!isReported(run) && (run.state === "stopped" || run.state === "failed") && (
        <ContinueButton run={run} />
      )}
    </>
  );
}

/** Button that continues an ended run from its last checkpoint as a new run. Empty without a checkpoint. */
function ContinueButton({ run }: { run: Run }) {
  const { data: checkpoints = [] } = useQuery(checkpointsQuery(run.id));
  const fork = useForkRun();
  const navigate = useNavigate();
  const [last] = checkpoints
    .filter(({ available, file_id, step }) => available && file_id !== null && step < (run.total_steps ?? 0))
    .toSorted((a, b) => b.step - a.step || b.id - a.id);
  if (!last) return null;

  const continueRun = () =>
    fork.mutate(
      { id: run.id, checkpoint_id: last.id },
      {
        onSuccess(child) {
          notifyDone(`Run ${child.id} continues run ${run.id}.`);
          void navigate(`/runs/${child.id}`);
        },
        onError: notifyProblem,
      },
    );
  return (
    <BlockableButton
      blocked={unsupportedReason(run)}
      tooltip="Launches a new run with the same settings from the last checkpoint"
      size="xs"
      leftSection={<IconPlayerPlay size={14} aria-hidden />}
      loading={isSubmitted(fork)}
      onClick={continueRun}
    >
      Continue from {short(last.step)}
    </BlockableButton>
  );
}
