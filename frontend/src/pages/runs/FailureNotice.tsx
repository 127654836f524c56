import { Button, CloseButton, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";
import { useMayWrite } from "@/api/projects";
import { groupRunsQuery } from "@/api/runs";
import type { FailureGroup, RunConfig } from "@/api/types";
import { findFix, fixHint, fixLabel } from "@/run-actions/fixes";
import { useSettingTitles } from "@/config-form/useSettingTitles";
import { ConfirmModal } from "@/ui/ConfirmModal";
import { useCurrentProject } from "@/ui/currentProject";
import { plural } from "@/ui/format";
import classes from "./FailureNotice.module.css";
import { useRelaunch } from "./useRelaunch";
import { toFailuresQuery, type RunsView } from "./view";

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
