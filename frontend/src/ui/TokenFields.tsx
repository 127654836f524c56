import { Checkbox, Group, NativeSelect, Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { projectsQuery } from "@/api/projects";
import type { TokenScope } from "@/api/types";

const SCOPES: Record<TokenScope, { label: string; description: string }> = {
  read: { label: "Read", description: "See what you may see." },
  write: { label: "Write", description: "Launch, stop and change." },
  log: { label: "Log", description: "Log runs from scripts." },
  worker: { label: "Worker", description: "Train runs of all projects." },
};
const LIFETIMES = [7, 30, 90, 365];
const DEFAULT_DAYS = 90;

/** Return the lifetimes to choose from, up to the limit of the server. Null is forever. */
export function lifetimesOf(limit: number | null): (number | null)[] {
  if (limit === null) return [...LIFETIMES, null];
  const shorter = LIFETIMES.filter((days) => days <= limit);
  return shorter.includes(limit) ? shorter : [...shorter, limit];
}

export const defaultDays = (limit: number | null) => Math.min(DEFAULT_DAYS, limit ?? DEFAULT_DAYS);

const lifetimeLabel = (days: number | null) =>
  days === null ? "never" : days === 365 ? "in a year" : days === 1 ? "in a day" : `in ${days} days`;

/** What a token may do, and for how many days. Null is forever. */
export interface TokenLimits {
  scopes: TokenScope[];
  /** The only project that it opens. Null is all of the person. */
  project: string | null;
  days: number | null;
}

interface TokenFieldsProps {
  limits: TokenLimits;
  offered: readonly TokenScope[];
  /** The longest lifetime in days. Null if there is none. */
  maxDays: number | null;
  /** Problems by field. */
  problems: Record<string, string>;
  onChange: (limits: TokenLimits) => void;
}

/** Scopes, project and lifetime of a new token. */
export function TokenFields({ limits, offered, maxDays, problems, onChange }: TokenFieldsProps) {
  const projects = useQuery(projectsQuery).data ?? [];
  return (
    <>
      <Checkbox.Group
        label="It may"
        value={limits.scopes}
        error={problems.scopes}
        onChange={(scopes) => onChange({ ...limits, scopes: scopes })}
      >
        <Stack gap="xs" mt="xs">
          {offered.map((scope) => (
            <Checkbox key={scope} value={scope} {...SCOPES[scope]} />
          ))}
        </Stack>
      </Checkbox.Group>
      <Group gap="xs" grow align="start">
        <NativeSelect
          label="Project"
          value={limits.project ?? ""}
          error={problems.project}
          onChange={(event) => onChange({ ...limits, project: event.currentTarget.value || null })}
          data={[{ value: "", label: "All of mine" }, ...projects.map((each) => each.name)]}
        />
        <NativeSelect
          label="Expires"
          value={limits.days ?? ""}
          error={problems.days}
          onChange={(event) => onChange({ ...limits, days: Number(event.currentTarget.value) || null })}
          data={lifetimesOf(maxDays).map((days) => ({
            value: String(days ?? ""),
            label: lifetimeLabel(days),
          }))}
        />
      </Group>
    </>
  );
}
