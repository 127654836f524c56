import { address } from "./client";
import { apiQuery } from "./requests";
import type { UsageTable } from "./types";

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
