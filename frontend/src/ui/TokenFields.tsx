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
const LIFETIMES = [
  { value: "7", label: "in 7 days" },
  { value: "30", label: "in 30 days" },
  { value: "90", label: "in 90 days" },
  { value: "365", label: "in a year" },
  { value: "", label: "never" },
];

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
  /** Problems by field. */
  problems: Record<string, string>;
  onChange: (limits: TokenLimits) => void;
}

/** Scopes, project and lifetime of a new token. */
export function TokenFields({ limits, offered, problems, onChange }: TokenFieldsProps) {
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
          onChange={(event) => onChange({ ...limits, days: Number(event.currentTarget.value) || null })}
          data={LIFETIMES}
        />
      </Group>
    </>
  );
}
