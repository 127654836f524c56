import { keepPreviousData, queryOptions, useQueryClient } from "@tanstack/react-query";
import { call } from "./client";
import { apiQuery, useApiMutation } from "./requests";
import { byProject } from "./projectFilter";
import { LIST_SECONDS, live, ofAny } from "./topics";
import type { BoardPanel } from "./types";
import { readAs } from "./versions";

export const boardKeys = {
  all: ["boards"] as const,
  detail: (project: number) => [...boardKeys.all, project] as const,
  panel: (project: number, key: string) => ["boards", "panel", project, key] as const,
  allSelected: ["selected-runs"] as const,
  selected: (query: { project: string; filter: string; limit: number }) =>
    [...boardKeys.allSelected, query] as const,
};

/** A merged project has the number of another one, so the board of any project may be shown here. */
const BOARD = live(ofAny("board.changed", "projects.changed"));

export const boardQuery = (project: number) =>
  apiQuery(
    boardKeys.detail(project),
    "/api/v1/projects/{project_id}/board",
    { path: { project_id: project } },
    BOARD,
  );

/** A panel by the project that it was embedded from. That project may have been merged into another one. */
export const panelQuery = (project: number, key: string) =>
  apiQuery(
    boardKeys.panel(project, key),
    "/api/v1/projects/{project_id}/board/panels/{panel_key}",
    { path: { project_id: project, panel_key: key } },
    BOARD,
  );

const readIds = readAs(({ items }: { items: { id: number }[] }) => items.map(({ id }) => id));

/** Ids of the runs of a project that a panel's filter selects, newest first. */
export const selectedRunsQuery = (project: string, filter: string, limit: number) =>
  queryOptions({
    queryKey: boardKeys.selected({ project, filter, limit }),
    ...live(ofAny("run.changed", "run.removed", "projects.changed"), LIST_SECONDS),
    queryFn: ({ signal }): Promise<number[]> => {
      const query = { ...byProject(project), filter, limit, sort: "-created_at" };
      return call("get", "/api/v1/runs", { params: { query }, signal }).then(readIds);
    },
    placeholderData: keepPreviousData,
  });

/**
 * Save the panels of a board and show them immediately. If someone else has changed the board, the page shows
 * their version, and a notification has the server's error.
 */
export function useSaveBoard(project: number) {
  const client = useQueryClient();
  const key = boardQuery(project).queryKey;
  return useApiMutation(
    (panels: BoardPanel[]) =>
      call("put", "/api/v1/projects/{project_id}/board", {
        params: { path: { project_id: project } },
        body: { version: client.getQueryData(key)?.version ?? 0, panels },
      }),
    {
      // Changes are sent one after the other, because each is based on the version of the one before.
      scope: { id: `board ${project}` },
      onMutate: async (panels: BoardPanel[]) => {
        await client.cancelQueries({ queryKey: key });
        client.setQueryData(key, (board) => board && { ...board, panels });
      },
      // Keep the panels of a later change that is still being sent.
      onDone: (client, { version, updated_at }) =>
        client.setQueryData(key, (board) => board && { ...board, version, updated_at }),
      onError: () => client.invalidateQueries({ queryKey: key }),
    },
  );
}
