import { infiniteQueryOptions } from "@tanstack/react-query";
import { address, call } from "./client";
import { projectKeys } from "./projects";
import { apiQuery, useApiMutation } from "./requests";
import { accountQuery, sessionKey } from "./session";
import type {
  AuditPage,
  FirstAccount,
  GroupEdit,
  LoginConfirmation,
  NewMember,
  NewMembers,
  NewPeople,
  NewToken,
  PersonEdit,
  RoleName,
} from "./types";

/** Filters of the audit log by their names in the API. Days are of this browser, and the last one is included. */
export type AuditFilters = Partial<
  Record<"project_id" | "person_id" | "kind" | "action" | "since" | "until", string>
>;

export const peopleKeys = {
  all: ["people"] as const,
  groups: ["person groups"] as const,
  members: (project: number) => ["members", project] as const,
  sessions: ["sessions"] as const,
  tokens: ["tokens"] as const,
  audit: (filters: AuditFilters) => ["audit", filters] as const,
};

export const peopleQuery = apiQuery(peopleKeys.all, "/api/v1/people");
export const personGroupsQuery = apiQuery(peopleKeys.groups, "/api/v1/groups");

export const membersQuery = (project: number) =>
  apiQuery(peopleKeys.members(project), "/api/v1/projects/{project_id}/members", {
    path: { project_id: project },
  });

export const sessionsQuery = (everyone: boolean) =>
  apiQuery([...peopleKeys.sessions, everyone], "/api/v1/sessions", { query: { everyone } });

export const tokensQuery = (everyone: boolean) =>
  apiQuery([...peopleKeys.tokens, everyone], "/api/v1/tokens", { query: { everyone } });

export const auditFacetsQuery = apiQuery(["audit facets"], "/api/v1/audit/facets");

const startOf = (day: string | undefined, daysLater = 0): string | null => {
  const [year = NaN, month = NaN, date = NaN] = (day ?? "").split("-").map(Number);
  const start = new Date(year, month - 1, date + daysLater);
  return Number.isNaN(start.getTime()) ? null : start.toISOString();
};

const auditParameters = ({ project_id, person_id, kind, action, since, until }: AuditFilters) => ({
  project_id: Number(project_id) || null,
  person_id: Number(person_id) || null,
  kind: kind || null,
  action: action || null,
  since: startOf(since),
  until: startOf(until, 1),
});

export const auditQuery = (filters: AuditFilters) =>
  infiniteQueryOptions({
    queryKey: peopleKeys.audit(filters),
    queryFn: ({ pageParam, signal }): Promise<AuditPage> =>
      call("get", "/api/v1/audit", {
        params: { query: { ...auditParameters(filters), before: pageParam } },
        signal,
      }),
    initialPageParam: null as number | null,
    getNextPageParam: (last) => last.next_before,
  });

export const auditExportAddress = (filters: AuditFilters) =>
  address("/audit/export", auditParameters(filters));

/** Create the first account. From then on everyone signs in. */
export function useCreateFirst() {
  return useApiMutation((body: FirstAccount) => call("post", "/api/v1/people/first", { body }), {
    ownErrors: true,
    refetch: [sessionKey, accountQuery.queryKey, peopleKeys.all],
  });
}

export function useInvite() {
  return useApiMutation((body: NewPeople) => call("post", "/api/v1/people", { body }), {
    ownErrors: true,
    refetch: [peopleKeys.all],
  });
}

/** Invite people into a project. Those with an account get the role only. */
export function useInviteMembers(project: number) {
  return useApiMutation(
    (body: NewMembers) =>
      call("post", "/api/v1/projects/{project_id}/invitations", {
        params: { path: { project_id: project } },
        body,
      }),
    { ownErrors: true, ...afterMembers(project) },
  );
}

export function useEditPerson() {
  return useApiMutation(
    ({ id, ...body }: PersonEdit & { id: number }) =>
      call("patch", "/api/v1/people/{person_id}", { params: { path: { person_id: id } }, body }),
    { refetch: [peopleKeys.all] },
  );
}

/** Get a one-time link with which a person chooses a new password. */
export function useCreateLink() {
  return useApiMutation((id: number) =>
    call("post", "/api/v1/people/{person_id}/link", { params: { path: { person_id: id } } }),
  );
}

export function useSignPersonOut() {
  return useApiMutation(
    (id: number) =>
      call("delete", "/api/v1/people/{person_id}/sessions", { params: { path: { person_id: id } } }),
    { refetch: [peopleKeys.sessions] },
  );
}

export function useRevokeTokensOf() {
  return useApiMutation(
    (id: number) =>
      call("delete", "/api/v1/people/{person_id}/tokens", { params: { path: { person_id: id } } }),
    { refetch: [peopleKeys.tokens] },
  );
}

export function useCreateGroup() {
  return useApiMutation((name: string) => call("post", "/api/v1/groups", { body: { name } }), {
    ownErrors: true,
    refetch: [peopleKeys.groups],
  });
}

export function useEditGroup() {
  return useApiMutation(
    ({ id, ...body }: GroupEdit & { id: number }) =>
      call("patch", "/api/v1/groups/{group_id}", { params: { path: { group_id: id } }, body }),
    { refetch: [peopleKeys.groups, peopleKeys.all] },
  );
}

export function useDeleteGroup() {
  return useApiMutation(
    (id: number) => call("delete", "/api/v1/groups/{group_id}", { params: { path: { group_id: id } } }),
    { refetch: [peopleKeys.groups, peopleKeys.all] },
  );
}

const afterMembers = (project: number) => ({
  refetch: [peopleKeys.members(project), accountQuery.queryKey, projectKeys.all],
});

export function useAddMember(project: number) {
  return useApiMutation(
    (body: NewMember) =>
      call("post", "/api/v1/projects/{project_id}/members", {
        params: { path: { project_id: project } },
        body,
      }),
    { ownErrors: true, ...afterMembers(project) },
  );
}

/** Open a project to everyone with an account, or close it. */
export function useOpenProject(project: number) {
  return useApiMutation(
    (everyone: RoleName | null) =>
      call("patch", "/api/v1/projects/{project_id}/members", {
        params: { path: { project_id: project } },
        body: { everyone },
      }),
    afterMembers(project),
  );
}

export function useEditMember(project: number) {
  return useApiMutation(
    ({ id, role }: { id: number; role: RoleName }) =>
      call("patch", "/api/v1/projects/{project_id}/members/{role_id}", {
        params: { path: { project_id: project, role_id: id } },
        body: { role },
      }),
    afterMembers(project),
  );
}

export function useRemoveMember(project: number) {
  return useApiMutation(
    (id: number) =>
      call("delete", "/api/v1/projects/{project_id}/members/{role_id}", {
        params: { path: { project_id: project, role_id: id } },
      }),
    afterMembers(project),
  );
}

export function useEditAccount() {
  return useApiMutation((name: string) => call("patch", "/api/v1/account", { body: { name } }), {
    ownErrors: true,
    refetch: [accountQuery.queryKey, peopleKeys.all],
  });
}

export function useChangePassword() {
  return useApiMutation(
    (body: { old_password: string; new_password: string }) =>
      call("post", "/api/v1/account/password", { body }),
    { ownErrors: true, refetch: [peopleKeys.sessions] },
  );
}

export function useEndSession() {
  return useApiMutation(
    (id: number) => call("delete", "/api/v1/sessions/{session_id}", { params: { path: { session_id: id } } }),
    { refetch: [peopleKeys.sessions] },
  );
}

export function useCreateToken() {
  return useApiMutation((body: NewToken) => call("post", "/api/v1/tokens", { body }), {
    ownErrors: true,
    refetch: [peopleKeys.tokens],
  });
}

export function useRevokeToken() {
  return useApiMutation(
    (id: number) => call("delete", "/api/v1/tokens/{token_id}", { params: { path: { token_id: id } } }),
    { refetch: [peopleKeys.tokens] },
  );
}

export function useRevokeAllTokens() {
  return useApiMutation(() => call("delete", "/api/v1/tokens", {}), { refetch: [peopleKeys.tokens] });
}

/** Read which command line waits with a code. */
export function useReadLogin() {
  return useApiMutation((code: string) => call("post", "/api/v1/account/device", { body: { code } }), {
    ownErrors: true,
  });
}

/** Give a waiting command line a token. */
export function useConfirmLogin() {
  return useApiMutation(
    (body: LoginConfirmation) => call("post", "/api/v1/account/device/confirm", { body }),
    { ownErrors: true, refetch: [peopleKeys.tokens] },
  );
}

export function useRefuseLogin() {
  return useApiMutation((code: string) => call("post", "/api/v1/account/device/refuse", { body: { code } }), {
    ownErrors: true,
  });
}

/** Read whom a one-time link is for. It stays valid. */
export function useReadLink() {
  return useApiMutation((secret: string) => call("post", "/api/v1/session/link", { body: { secret } }), {
    ownErrors: true,
  });
}

/** Choose a password with a one-time link, and sign in. */
export function useAcceptLink() {
  return useApiMutation(
    (body: { secret: string; password: string; name?: string; email?: string }) =>
      call("post", "/api/v1/session/password", { body }),
    { ownErrors: true, onDone: (client) => client.invalidateQueries() },
  );
}
