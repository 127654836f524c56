import { Button } from "@mantine/core";
import { Link, useNavigate } from "react-router";
import { isSubmitted } from "@/api/mutationState";
import { useCloneRun } from "@/api/runs";
import type { Run } from "@/api/types";
import { shown } from "@/config-form/draft";
import { notifyDone } from "@/ui/notify";
import { type Cure, cureOf } from "./cures";

/** Launches a failed run again with the fields changed that made it fail; nothing where that would not help. */
export function CureButton({ run }: { run: Run }) {
  const cure = cureOf(run);
  if (cure?.changes) return <LaunchChanged run={run} changes={cure.changes} />;
  if (!cure?.lower) return null;
  const fields = cure.lower.map((name) => `${name} (${shown(run.config[name])})`).join(" or ");
  return (
    <Button size="xs" component={Link} to={`/launch?like=${run.id}`}>
      Launch again with lower {fields}…
    </Button>
  );
}

function LaunchChanged({ run, changes }: { run: Run; changes: NonNullable<Cure["changes"]> }) {
  const clone = useCloneRun();
  const navigate = useNavigate();
  const words = Object.entries(changes).map(([name, value]) => `${name} ${shown(value)}`);
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
      Launch again with {words.join(", ")}
    </Button>
  );
}
