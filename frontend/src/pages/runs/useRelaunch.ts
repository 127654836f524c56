import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { type FailuresQuery, groupRunsQuery, useCloneRun } from "@/api/runs";
import type { RunConfig } from "@/api/types";
import { sameValue } from "@/config-form/draft";
import { plural } from "@/ui/format";
import { notifyDone, notifyProblem } from "@/ui/notify";

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
export function useRelaunch() {
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
