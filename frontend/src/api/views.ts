import { queryOptions, useMutation, useQueryClient, type QueryClient } from "@tanstack/react-query";
import { call } from "./client";
import { OWN_ERRORS } from "./mutationState";
import { byProject } from "./projectFilter";
import type { SavedView } from "./types";

export const viewKeys = {
  all: ["views"] as const,
  list: (project: string | null) => [...viewKeys.all, { project }] as const,
};

/** The saved views of a project, or of all, by name. */
export const viewsQuery = (project: string | null) =>
  queryOptions({
    queryKey: viewKeys.list(project),
    queryFn: ({ signal }): Promise<SavedView[]> =>
      call("get", "/api/v1/views", { params: { query: byProject(project) }, signal }),
  });

const refetch = (client: QueryClient) => client.invalidateQueries({ queryKey: viewKeys.all });

export function useCreateView() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: { name: string; query: string; project?: string }): Promise<SavedView> =>
      call("post", "/api/v1/views", { body }),
    meta: OWN_ERRORS,
    onSuccess: () => refetch(client),
  });
}

interface ViewChanges {
  id: number;
  name?: string;
  query?: string;
}

export function useEditView() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ id, ...body }: ViewChanges): Promise<SavedView> =>
      call("patch", "/api/v1/views/{view_id}", { params: { path: { view_id: id } }, body }),
    meta: OWN_ERRORS,
    onSuccess: () => refetch(client),
  });
}

export function useDeleteView() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: number) =>
      call("delete", "/api/v1/views/{view_id}", { params: { path: { view_id: id } } }),
    onSuccess: () => refetch(client),
  });
}
