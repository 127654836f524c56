import { Button } from "@mantine/core";
import { Link, useNavigate } from "react-router";
import { isSubmitted } from "@/api/mutationState";
import { useCloneRun } from "@/api/runs";
import type { Run } from "@/api/types";
import { useSettingTitles } from "@/config-form/useSettingTitles";
import { notifyDone } from "@/ui/notify";
import { unsupportedReason } from "@/ui/states";
import { findFix, fixHint, fixLabel, type Fix } from "./fixes";

/** Button that launches a failed run again with changed settings. Empty if it cannot start, or no setting helps. */
export function FixButton({ run }: { run: Run }) {
  const titles = useSettingTitles();
  const fix = run.failure && findFix(run.failure.message, run.config);
  if (!fix || unsupportedReason(run) !== null) return null;
  if (fix.changes) return <LaunchWithChanges run={run} fix={fix} />;
  return (
    <Button size="xs" component={Link} to={`/launch?like=${run.id}`} title={fixHint(fix, titles, run.config)}>
      {fixLabel(fix, titles)}
    </Button>
  );
}

function LaunchWithChanges({ run, fix }: { run: Run; fix: Fix }) {
  const titles = useSettingTitles();
  const clone = useCloneRun();
  const navigate = useNavigate();
  const launch = () =>
    clone.mutate(
      { id: run.id, overrides: fix.changes ?? {} },
      {
        onSuccess(copy) {
          notifyDone(`Launched ${copy.name} as run ${copy.id}.`);
          void navigate(`/runs/${copy.id}`);
        },
      },
    );
  return (
    <Button size="xs" loading={isSubmitted(clone)} onClick={launch}>
      {fixLabel(fix, titles)}
    </Button>
  );
}
