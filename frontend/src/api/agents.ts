import { IMPORTED_LISTS } from "./archives";
import { address } from "./client";
import { useApiMutation } from "./requests";
import type { components } from "./schema";
import { upload } from "./upload";

type ImportedAgent = components["schemas"]["ImportedAgent"];

/** Return the address of the agent file of a checkpoint, by default the newest. */
export function agentAddress(run: number, checkpoint?: number): string {
  return address(`/runs/${run}/agent`, checkpoint === undefined ? {} : { checkpoint: String(checkpoint) });
}

interface AgentImport {
  file: File;
  /** The environment of a model of Stable-Baselines3. */
  env: string | null;
  project: string | null;
}

/** Import an agent file as a run with one checkpoint. */
export function useImportAgent() {
  return useApiMutation(
    ({ file, env, project }: AgentImport) =>
      upload<ImportedAgent>("/agents", { ...(env && { env }), ...(project && { project }) }, file),
    { ownErrors: true, refetch: IMPORTED_LISTS },
  );
}
