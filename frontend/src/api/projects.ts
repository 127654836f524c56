import { useQuery, useQueryClient } from "@tanstack/react-query";
import { boardKeys } from "./boards";
import { call } from "./client";
import { apiQuery, useApiMutation } from "./requests";
import { gameKeys } from "./games";
import { runKeys } from "./runs";
import { sessionQuery } from "./session";
import { studyKeys } from "./studies";
import { live, ofAny, SELDOM_SECONDS } from "./topics";
import { viewKeys } from "./views";
import type { MoveItems, MovedItems, ProjectEdit } from "./types";

/** The project of everything that names no other. It cannot be renamed, merged or deleted. */
export const MAIN_PROJECT_ID = 1;
export const MAIN_PROJECT = "Main";

export const projectKeys = {
  all: ["projects"] as const,
  detail: (id: number) => [...projectKeys.all, id] as const,
};

/** Queries whose results depend on the project of a run, a study or a report. */
export const KEYS_BY_PROJECT = [
  projectKeys.all,
  runKeys.lists,
  runKeys.allFacets,
  ["run"],
  studyKeys.all,
  ["reports"],
  ["artifacts"],
  gameKeys.all,
  viewKeys.all,
  boardKeys.all,
  boardKeys.allSelected,
];

const PROJECTS = live(
  [
    ...ofAny("run.changed", "run.removed", "projects.changed"),
    ...ofAny("study.changed", "study.removed", "artifacts.changed"),
  ],
  SELDOM_SECONDS,
);

export const projectsQuery = apiQuery(projectKeys.all, "/api/v1/projects", {}, PROJECTS);

export const projectQuery = (id: number) =>
  apiQuery(projectKeys.detail(id), "/api/v1/projects/{project_id}", { path: { project_id: id } }, PROJECTS);

/** Return true if two names are of the same project. The server ignores case too. */
export const isSameProject = (one: string, other: string): boolean =>
  one.trim().toLowerCase() === other.trim().toLowerCase();

/** Return false if the caller may change nothing in any project, or if this is not known yet. */
export function useMayWrite(): boolean {
  const { data } = useQuery(projectsQuery);
  // Loaded before any page. Everyone may write where nobody signs in.
  const session = useQueryClient().getQueryData(sessionQuery.queryKey);
  return data?.some(({ may_edit }) => may_edit) ?? !session?.required;
}

export function useCreateProject() {
  return useApiMutation((body: { name: string }) => call("post", "/api/v1/projects", { body }), {
    ownErrors: true,
    refetch: [projectKeys.all],
  });
}

export function useEditProject(id: number) {
  return useApiMutation(
    (body: ProjectEdit) =>
      call("patch", "/api/v1/projects/{project_id}", { params: { path: { project_id: id } }, body }),
    {
      ownErrors: true,
      onDone: (client, project, changes) => {
        client.setQueryData(projectQuery(id).queryKey, project);
        return changes.name === undefined
          ? client.invalidateQueries({ queryKey: projectKeys.all, exact: true })
          : Promise.all(KEYS_BY_PROJECT.map((queryKey) => client.invalidateQueries({ queryKey })));
      },
    },
  );
}

export function useDeleteProject() {
  return useApiMutation(
    (id: number) => call("delete", "/api/v1/projects/{project_id}", { params: { path: { project_id: id } } }),
    {
      ownErrors: true,
      onDone: (client) => client.invalidateQueries({ queryKey: projectKeys.all, exact: true }),
    },
  );
}

/** Move everything of a project into another one, and delete it. */
export function useMergeProject() {
  return useApiMutation(
    ({ id, into }: { id: number; into: string }) =>
      call("post", "/api/v1/projects/{project_id}/merge", {
        params: { path: { project_id: id } },
        body: { into },
      }),
    { ownErrors: true, refetch: KEYS_BY_PROJECT },
  );
}

/** Most runs in one request. */
const MAX_MOVED = 1000;

/** Move items in as many requests as needed. */
async function moveItems(id: number, items: MoveItems): Promise<MovedItems> {
  const params = { path: { project_id: id } };
  const runs = items.runs ?? [];
  const body = runs.length > MAX_MOVED ? { ...items, runs: runs.slice(0, MAX_MOVED) } : items;
  const moved = await call("post", "/api/v1/projects/{project_id}/items", { params, body });
  if (runs.length <= MAX_MOVED) return moved;
  const others = await moveItems(id, { runs: runs.slice(MAX_MOVED) });
  return { ...moved, runs: [...moved.runs, ...others.runs] };
}

/** Move runs, studies and reports into a project. */
export function useMoveItems() {
  return useApiMutation(
    ({ id, items }: { id: number; items: MoveItems }): Promise<MovedItems> => moveItems(id, items),
    { ownErrors: true, refetch: KEYS_BY_PROJECT },
  );
}
