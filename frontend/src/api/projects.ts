import { queryOptions, useMutation, useQueryClient, type QueryClient } from "@tanstack/react-query";
import { boardKeys } from "./boards";
import { call } from "./client";
import { gameKeys } from "./games";
import { OWN_ERRORS } from "./mutationState";
import { runKeys } from "./runs";
import { studyKeys } from "./studies";
import { viewKeys } from "./views";
import type { MoveItems, MovedItems, Project, ProjectEdit, ProjectSummary } from "./types";

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

export const projectsQuery = queryOptions({
  queryKey: projectKeys.all,
  queryFn: ({ signal }): Promise<ProjectSummary[]> => call("get", "/api/v1/projects", { signal }),
});

export const projectQuery = (id: number) =>
  queryOptions({
    queryKey: projectKeys.detail(id),
    queryFn: ({ signal }): Promise<Project> =>
      call("get", "/api/v1/projects/{project_id}", { params: { path: { project_id: id } }, signal }),
  });

/** Return true if two names are of the same project. The server ignores case too. */
export const isSameProject = (one: string, other: string): boolean =>
  one.trim().toLowerCase() === other.trim().toLowerCase();

const refetch = (client: QueryClient) =>
  Promise.all(KEYS_BY_PROJECT.map((queryKey) => client.invalidateQueries({ queryKey })));

export function useCreateProject() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: { name: string }): Promise<Project> => call("post", "/api/v1/projects", { body }),
    meta: OWN_ERRORS,
    onSuccess: () => client.invalidateQueries({ queryKey: projectKeys.all }),
  });
}

export function useEditProject(id: number) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: ProjectEdit): Promise<Project> =>
      call("patch", "/api/v1/projects/{project_id}", { params: { path: { project_id: id } }, body }),
    meta: OWN_ERRORS,
    onSuccess: (project, changes) => {
      client.setQueryData(projectQuery(id).queryKey, project);
      return changes.name === undefined
        ? client.invalidateQueries({ queryKey: projectKeys.all, exact: true })
        : refetch(client);
    },
  });
}

export function useDeleteProject() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: number) =>
      call("delete", "/api/v1/projects/{project_id}", { params: { path: { project_id: id } } }),
    meta: OWN_ERRORS,
    onSuccess: () => client.invalidateQueries({ queryKey: projectKeys.all, exact: true }),
  });
}

/** Move everything of a project into another one, and delete it. */
export function useMergeProject() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ id, into }: { id: number; into: string }): Promise<Project> =>
      call("post", "/api/v1/projects/{project_id}/merge", {
        params: { path: { project_id: id } },
        body: { into },
      }),
    meta: OWN_ERRORS,
    onSuccess: () => refetch(client),
  });
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
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ id, items }: { id: number; items: MoveItems }): Promise<MovedItems> =>
      moveItems(id, items),
    meta: OWN_ERRORS,
    onSuccess: () => refetch(client),
  });
}
