import { Button } from "@mantine/core";
import { Link, useNavigate } from "react-router";
import { isSubmitted } from "@/api/mutationState";
import { useCloneRun } from "@/api/runs";
import type { Run } from "@/api/types";
import { shown } from "@/config-form/draft";
import { notifyDone } from "@/ui/notify";
import { findFix, type Fix } from "./fixes";

/** Button that launches a failed run again with changed settings. Empty if no setting fixes the failure. */
export function FixButton({ run }: { run: Run }) {
  const fix = findFix(run);
  if (fix?.changes) return <LaunchWithChanges run={run} changes={fix.changes} />;
  if (!fix?.lower) return null;
  const fields = fix.lower.map((name) => `${name} (${shown(run.config[name])})`).join(" or ");
  return (
    <Button size="xs" component={Link} to={`/launch?like=${run.id}`}>
      Launch again with lower {fields}…
    </Button>
  );
}

function LaunchWithChanges({ run, changes }: { run: Run; changes: NonNullable<Fix["changes"]> }) {
  const clone = useCloneRun();
  const navigate = useNavigate();
  const settings = Object.entries(changes).map(([name, value]) => `${name} ${shown(value)}`);
  const launch = () =>
    clone.mutate(
      { id: run.id, overrides: changes },
      {
        onSuccess(copy) {
          notifyDone(`Launched ${copy.name} as run ${copy.id}.`);
          void navigate(`/runs/${copy.id}`);
        },
      },
    );
  return (
    <Button size="xs" loading={isSubmitted(clone)} onClick={launch}>
      Launch again with {settings.join(", ")}
    </Button>
  );
}
