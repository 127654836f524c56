import { Button, CloseButton, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";
import { useMayWrite } from "@/api/projects";
import { type FailuresQuery, groupRunsQuery, useCloneRun } from "@/api/runs";
import type { FailureGroup, RunConfig } from "@/api/types";
import { sameValue } from "@/config-form/draft";
import { useSettingTitles } from "@/config-form/useSettingTitles";
import { findFix, fixHint, fixLabel } from "@/run-actions/fixes";
import { ConfirmModal } from "@/ui/ConfirmModal";
import { useCurrentProject } from "@/ui/currentProject";
import { plural } from "@/ui/format";
import { notifyDone, notifyProblem } from "@/ui/notify";
import { type RunsView, toFailuresQuery } from "./view";
import classes from "./FailureNotice.module.css";

interface FailureNoticeProps {
  group: FailureGroup;
  view: RunsView;
  /** Null if the list shows only these runs. */
  onChoose: (() => void) | null;
  onDismiss: () => void;
}

/** One line for runs that failed with the same message, with a button that fixes them if a setting does. */
export function FailureNotice({ group, view, onChoose, onDismiss }: FailureNoticeProps) {
  const { message, runs } = group;
  const project = useCurrentProject();
  const mayWrite = useMayWrite();
  const titles = useSettingTitles();
  const query = toFailuresQuery({ ...view, ...withFailure(view, message) }, project);
  const { data } = useQuery(groupRunsQuery({ ...query, sort: "-created_at", include: ["config"] }, 1));
  const example = data?.items[0];
  const config = example?.config ?? {};
  const fix = mayWrite && example ? findFix(message, config) : null;
  return (
    <div className={classes.notice}>
      <IconAlertTriangle size={16} aria-hidden className={classes.icon} />
      <Text size="sm" className={classes.message} title={message}>
        <strong>{plural(runs, "run")} failed:</strong> {message}
      </Text>
      {fix?.changes && (
        <RelaunchButton
          label={fixLabel(fix, titles, runs)}
          message={message}
          query={query}
          config={config}
          changes={fix.changes}
        />
      )}
      {fix?.lower && (
        <Button
          size="compact-sm"
          variant="light"
          component={Link}
          to={`/launch?like=${example?.id}`}
          title={fixHint(fix, titles, config)}
        >
          {fixLabel(fix, titles)}
        </Button>
      )}
      {onChoose && (
        <Button size="compact-sm" variant="default" onClick={onChoose}>
          Show runs
        </Button>
      )}
      <CloseButton
        size={24}
        className={classes.close}
        aria-label={`Dismiss: ${message}`}
        onClick={onDismiss}
      />
    </div>
  );
}

interface RelaunchButtonProps {
  label: string;
  message: string;
  query: ReturnType<typeof toFailuresQuery>;
  config: RunConfig;
  changes: RunConfig;
}

function RelaunchButton({ label, message, query, config, changes }: RelaunchButtonProps) {
  const [isOpen, setOpen] = useState(false);
  const relaunch = useRelaunch();
  if (relaunch.isDone) return null;
  return (
    <>
      <Button size="compact-sm" variant="light" loading={relaunch.isPending} onClick={() => setOpen(true)}>
        {label}
      </Button>
      <ConfirmModal
        opened={isOpen}
        title={`${label}?`}
        action="Launch again"
        onConfirm={() => {
          setOpen(false);
          void relaunch.start({ message, query, config, changes });
        }}
        onClose={() => setOpen(false)}
      >
        <Text size="sm">
          Each new run keeps the other settings, the name and the tags. The failed runs stay in the list.
        </Text>
      </ConfirmModal>
    </>
  );
}

/** Return the filters that select the runs with this failure. */
function withFailure({ filter }: RunsView, message: string): Pick<RunsView, "state" | "filter"> {
  const failure = `failure ~ "${message.replace(/["\\]/g, "\\$&")}"`;
  return { state: ["failed"], filter: filter ? `(${filter}) and ${failure}` : failure };
}

/** The most runs that one click launches. */
const MAX_RELAUNCHED = 1000;

interface Relaunch {
  /** First line of the failure. */
  message: string;
  /** Selects the failed runs. */
  query: FailuresQuery;
  /** Settings of one of the runs. Only runs with the same values of the changed fields are launched again. */
  config: RunConfig;
  changes: RunConfig;
}

/** Launches failed runs again with changed settings, one after another. */
function useRelaunch() {
  const client = useQueryClient();
  const clone = useCloneRun();
  const [state, setState] = useState<"idle" | "pending" | "done">("idle");

  async function failedRuns({ message, query, config, changes }: Relaunch) {
    const fields = Object.keys(changes);
    const include = fields.map((field) => `config.${field}`);
    const { items } = await client.fetchQuery(
      groupRunsQuery({ ...query, sort: "created_at", include }, MAX_RELAUNCHED),
    );
    return items.filter(
      (run) =>
        run.failure?.message.trim().startsWith(message) &&
        fields.every((field) => sameValue(run.config?.[field], config[field])),
    );
  }

  async function start(relaunch: Relaunch) {
    setState("pending");
    const failed = await failedRuns(relaunch).catch(notifyProblem);
    if (!failed) return setState("idle");
    let launched = 0;
    try {
      for (const { id } of failed) {
        await clone.mutateAsync({ id, overrides: relaunch.changes });
        launched += 1;
      }
      setState("done");
    } catch {
      // The mutation has shown its error.
      setState("idle");
    }
    if (launched > 0) notifyDone(`Launched ${plural(launched, "run")}.`);
  }

  return { start, isPending: state === "pending", isDone: state === "done" };
}
