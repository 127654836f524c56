import { Anchor, Badge, Group, Text } from "@mantine/core";
import { Link, useNavigate } from "react-router";
import type { Run } from "@/api/types";
import { projectAddress } from "@/ui/currentProject";
import { plural } from "@/ui/format";
import { Thumbnail } from "@/ui/Thumbnail";
import { Rate, Score, Short, TimeAgo } from "@/ui/Quantity";
import { OriginBadge } from "@/ui/OriginBadge";
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
} from "@/ui/states";
import { BestEvaluation } from "./evaluations/BestEvaluation";
import { RunActions } from "./RunActions";
import { RunMenu } from "@/run-actions/RunMenu";
import { RunTitle } from "./RunTitle";
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
