import { address, call } from "./client";
import { apiQuery, useApiMutation } from "./requests";
import type { CapLimits, UsageTable } from "./types";

export type UsageGroup = Exclude<UsageTable["groups"][number], "month">;

const day = (date: string | null, daysLater = 0): string | null => {
  if (date === null) return null;
  const [year = NaN, month = NaN, of = NaN] = date.split("-").map(Number);
  return new Date(Date.UTC(year, month - 1, of + daysLater)).toISOString();
};

/** Hours by month and one other group, from one day to another in UTC. */
export const usageQuery = (group: UsageGroup, from: string | null, to: string | null) =>
  apiQuery(
    ["usage", group, from, to],
    "/api/v1/usage",
    { query: { by: ["month", group], from: day(from), to: day(to, 1) } },
    { staleTime: 60_000 },
  );

/** Return the address of the same hours as CSV. */
export const usageFile = (group: UsageGroup, from: string | null, to: string | null) =>
  address("/export/usage.csv", { by: ["month", group], from: day(from), to: day(to, 1) });

const capKeys = { all: ["caps"] as const };

/** Caps of people and projects, with what was used this month. */
export const capsQuery = apiQuery(capKeys.all, "/api/v1/caps", {}, { staleTime: 10_000 });

/** Set the caps of a person or a project. Those that are left out end. */
export const useSetCap = () =>
  useApiMutation(
    ({ kind, id, limits: body }: { kind: "person" | "project"; id: number; limits: CapLimits }) =>
      kind === "person"
        ? call("put", "/api/v1/caps/people/{person_id}", { params: { path: { person_id: id } }, body })
        : call("put", "/api/v1/caps/projects/{project_id}", { params: { path: { project_id: id } }, body }),
    { refetch: [capKeys.all] },
  );
