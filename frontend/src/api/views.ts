import { call } from "./client";
import { apiQuery, useApiMutation } from "./requests";
import { byProject } from "./projectFilter";
import { live, ofAny } from "./topics";

export const viewKeys = {
  all: ["views"] as const,
  list: (project: string | null) => [...viewKeys.all, { project }] as const,
};

/** The saved views of a project, or of all, by name. */
export const viewsQuery = (project: string | null) =>
  apiQuery(
    viewKeys.list(project),
    "/api/v1/views",
    { query: byProject(project) },
    live(ofAny("projects.changed")),
  );

export function useCreateView() {
  return useApiMutation(
    (body: { name: string; query: string; project?: string }) => call("post", "/api/v1/views", { body }),
    { ownErrors: true, refetch: [viewKeys.all] },
  );
}

interface ViewChanges {
  id: number;
  name?: string;
  query?: string;
}

export function useEditView() {
  return useApiMutation(
    ({ id, ...body }: ViewChanges) =>
      call("patch", "/api/v1/views/{view_id}", { params: { path: { view_id: id } }, body }),
    { ownErrors: true, refetch: [viewKeys.all] },
  );
}

export function useDeleteView() {
  return useApiMutation(
    (id: number) => call("delete", "/api/v1/views/{view_id}", { params: { path: { view_id: id } } }),
    { refetch: [viewKeys.all] },
  );
}
