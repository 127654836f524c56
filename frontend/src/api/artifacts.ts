import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { address, call } from "./client";
import { apiQuery, useApiMutation } from "./requests";
import { byProject } from "./projectFilter";
import { problemFrom } from "./problem";
import type { components } from "./schema";
import { LIST_SECONDS, live, ofAny } from "./topics";

export type Artifact = components["schemas"]["Artifact"];
export type ArtifactDetails = components["schemas"]["ArtifactDetails"];
export type ArtifactEntry = components["schemas"]["ArtifactEntry"];
export type ArtifactVersion = components["schemas"]["ArtifactVersion"];
export type ArtifactVersionDetails = components["schemas"]["ArtifactVersionDetails"];
export type LinkedRun = components["schemas"]["LinkedRun"];
export type RunArtifacts = components["schemas"]["RunArtifacts"];
type ArtifactPage = components["schemas"]["ArtifactPage"];

/** Characters of a text file that a preview fetches. */
export const PREVIEW_BYTES = 65_536;

export const artifactKeys = {
  all: ["artifacts"] as const,
  list: (project: string | null, search: string) => [...artifactKeys.all, "list", project, search] as const,
  detail: (id: number) => [...artifactKeys.all, "detail", id] as const,
  version: (id: number, version: number) => [...artifactKeys.all, "version", id, version] as const,
  ofRun: (run: number) => [...artifactKeys.all, "run", run] as const,
  text: (url: string) => ["artifact-text", url] as const,
};

const ARTIFACTS = live(ofAny("artifacts.changed", "run.removed", "projects.changed"), LIST_SECONDS);

/** Artifacts of a project, or of all, the last changed first. */
export const artifactsQuery = (project: string | null, search: string) =>
  infiniteQueryOptions({
    queryKey: artifactKeys.list(project, search),
    ...ARTIFACTS,
    initialPageParam: null as number | null,
    queryFn: ({ pageParam, signal }): Promise<ArtifactPage> =>
      call("get", "/api/v1/artifacts", {
        params: { query: { ...byProject(project), search, before: pageParam } },
        signal,
      }),
    getNextPageParam: (page) => page.next_cursor,
  });

export const artifactQuery = (id: number) =>
  apiQuery(
    artifactKeys.detail(id),
    "/api/v1/artifacts/{artifact_id}",
    { path: { artifact_id: id } },
    ARTIFACTS,
  );

export const artifactVersionQuery = (id: number, version: number) =>
  apiQuery(
    artifactKeys.version(id, version),
    "/api/v1/artifacts/{artifact_id}/versions/{version}",
    { path: { artifact_id: id, version } },
    ARTIFACTS,
  );

export const runArtifactsQuery = (run: number) =>
  apiQuery(artifactKeys.ofRun(run), "/api/v1/runs/{run_id}/artifacts", { path: { run_id: run } }, ARTIFACTS);

const versionPath = ({ artifact_id, version }: Pick<ArtifactVersion, "artifact_id" | "version">) =>
  `/artifacts/${artifact_id}/versions/${version}`;

type VersionId = Parameters<typeof versionPath>[0];

/** Address of a file of a version. */
export const artifactFileAddress = (version: VersionId, path: string) =>
  address(`${versionPath(version)}/file`, { path });

/** Address of a zip file with all files of a version. */
export const artifactZipAddress = (version: VersionId) => address(`${versionPath(version)}/zip`);

/** The start of a text file. The contents of a version never change. */
export const artifactTextQuery = (url: string) =>
  queryOptions({
    queryKey: artifactKeys.text(url),
    staleTime: Infinity,
    queryFn: async ({ signal }): Promise<string> => {
      const response = await fetch(url, { headers: { Range: `bytes=0-${PREVIEW_BYTES - 1}` }, signal });
      if (!response.ok) throw problemFrom(response.status, await response.json().catch(() => undefined));
      return response.text();
    },
  });

/** Give an alias to a version. */
export function useSetArtifactAlias({ artifact_id, version }: VersionId) {
  return useApiMutation(
    (alias: string) =>
      call("put", "/api/v1/artifacts/{artifact_id}/aliases/{alias}", {
        params: { path: { artifact_id, alias } },
        body: { version },
      }),
    { ownErrors: true, refetch: [artifactKeys.all] },
  );
}

export function useRemoveArtifactAlias(artifact_id: number) {
  return useApiMutation(
    (alias: string) =>
      call("delete", "/api/v1/artifacts/{artifact_id}/aliases/{alias}", {
        params: { path: { artifact_id, alias } },
      }),
    { refetch: [artifactKeys.all] },
  );
}

export function useDeleteArtifactVersion({ artifact_id, version }: VersionId) {
  return useApiMutation(
    () =>
      call("delete", "/api/v1/artifacts/{artifact_id}/versions/{version}", {
        params: { path: { artifact_id, version } },
      }),
    {
      onDone: (client) => client.removeQueries({ queryKey: artifactKeys.version(artifact_id, version) }),
      refetch: [artifactKeys.all],
    },
  );
}
