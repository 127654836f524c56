import {
  Button,
  Group,
  Modal,
  Progress,
  SegmentedControl,
  Select,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
  Title,
} from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconGauge } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { peopleQuery } from "@/api/people";
import { projectsQuery } from "@/api/projects";
import { accountQuery } from "@/api/session";
import type { UsedCap } from "@/api/types";
import { capsQuery, useSetCap } from "@/api/usage";
import { formatHours } from "./hours";
import classes from "./usage.module.css";

/** From this share on, a bar is a warning. */
const WARNING_SHARE = 0.8;

/** Caps of people and projects as bars, which administrators change. */
export function Caps() {
  const { data: caps = [] } = useQuery(capsQuery);
  const isAdministrator = useQuery(accountQuery).data?.is_administrator ?? false;
  const [isEditing, editing] = useDisclosure();
  const [edited, setEdited] = useState<UsedCap | null>(null);
  if (caps.length === 0 && !isAdministrator) return null;
  const edit = (cap: UsedCap | null) => {
    setEdited(cap);
    editing.open();
  };
  return (
    <Stack component="section" gap="xs" aria-label="Caps">
      <Group justify="space-between">
        <Title order={2}>Caps</Title>
        {isAdministrator && (
          <Button
            variant="default"
            size="xs"
            leftSection={<IconGauge size={16} aria-hidden />}
            onClick={() => edit(null)}
          >
            Set a cap
          </Button>
        )}
      </Group>
      {caps.length === 0 && (
        <Text size="sm" c="dimmed">
          Nobody has a cap. A cap limits the runs that a person or a project trains at once, and their hours
          in a month.
        </Text>
      )}
      {caps.map((cap) => (
        <div key={`${cap.kind} ${cap.id}`} className={classes.cap}>
          <Group justify="space-between">
            <Text size="sm" fw={500}>
              {cap.kind === "project" ? `Project ${cap.name}` : cap.name}
            </Text>
            {isAdministrator && (
              <Button variant="subtle" size="compact-xs" onClick={() => edit(cap)}>
                Change
              </Button>
            )}
          </Group>
          <SimpleGrid cols={{ base: 1, sm: 3 }} spacing="md">
            <Used label="Runs now" used={cap.runs} limit={cap.max_runs} />
            <Used label="Core hours this month" used={cap.used_core_hours} limit={cap.core_hours} />
            <Used label="GPU hours this month" used={cap.used_gpu_hours} limit={cap.gpu_hours} />
          </SimpleGrid>
        </div>
      ))}
      {isEditing && <CapModal cap={edited} onClose={editing.close} />}
    </Stack>
  );
}

function Used({ label, used, limit }: { label: string; used: number; limit: number | null | undefined }) {
  if (limit == null) return null;
  const share = limit > 0 ? Math.min(1, used / limit) : 1;
  const text = `${formatHours(used)} of ${formatHours(limit)}`;
  return (
    <div>
      <Group justify="space-between" gap="xs">
        <Text size="xs" c="dimmed">
          {label}
        </Text>
        <Text size="xs">{text}</Text>
      </Group>
      <Progress
        value={100 * share}
        color={share >= 1 ? "red" : share >= WARNING_SHARE ? "yellow" : "blue"}
        aria-label={`${label}: ${text}`}
      />
    </div>
  );
}

const LIMITS = [
  ["max_runs", "Runs at once"],
  ["core_hours", "Core hours a month"],
  ["gpu_hours", "GPU hours a month"],
] as const;
const NONE = { max_runs: "", core_hours: "", gpu_hours: "" };

function typed(cap: UsedCap | null): typeof NONE {
  const text = (limit: number | null | undefined) => (limit == null ? "" : String(limit));
  return cap
    ? { max_runs: text(cap.max_runs), core_hours: text(cap.core_hours), gpu_hours: text(cap.gpu_hours) }
    : NONE;
}

function CapModal({ cap, onClose }: { cap: UsedCap | null; onClose: () => void }) {
  const [kind, setKind] = useState(cap?.kind ?? "project");
  const [id, setId] = useState<number | null>(cap?.id ?? null);
  const [limits, setLimits] = useState(typed(cap));
  const { data: people = [] } = useQuery({ ...peopleQuery, enabled: !cap });
  const { data: projects = [] } = useQuery({ ...projectsQuery, enabled: !cap });
  const choices = kind === "project" ? projects : people;
  const save = useSetCap();

  function submit(event: FormEvent) {
    event.preventDefault();
    const numbers = LIMITS.map(([name]) => [name, limits[name].trim() === "" ? null : Number(limits[name])]);
    if (id !== null) save.mutate({ kind, id, limits: Object.fromEntries(numbers) }, { onSuccess: onClose });
  }

  const isWrong = LIMITS.some(([name]) => !(Number(limits[name]) >= 0));
  return (
    <Modal
      opened
      onClose={onClose}
      title={cap ? `Change the cap of ${cap.name}` : "Set a cap"}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      <form onSubmit={submit}>
        <Stack gap="sm">
          {!cap && (
            <>
              <SegmentedControl
                aria-label="Cap of"
                data={[
                  { value: "project", label: "A project" },
                  { value: "person", label: "A person" },
                ]}
                value={kind}
                onChange={(chosen) => {
                  setKind(chosen);
                  setId(null);
                }}
              />
              <Select
                label={kind === "project" ? "Project" : "Person"}
                searchable
                data={choices.map((each) => ({ value: String(each.id), label: each.name }))}
                value={id === null ? null : String(id)}
                onChange={(value) => setId(value === null ? null : Number(value))}
              />
            </>
          )}
          {LIMITS.map(([name, label]) => (
            <TextInput
              key={name}
              label={label}
              placeholder="No limit"
              inputMode="decimal"
              value={limits[name]}
              error={Number(limits[name]) >= 0 ? undefined : "Enter a number from 0, or nothing."}
              onChange={(event) => setLimits({ ...limits, [name]: event.currentTarget.value })}
            />
          ))}
          {save.isError && (
            <Text size="sm" c="red" role="alert">
              {save.error.message}
            </Text>
          )}
          <Button type="submit" loading={save.isPending} disabled={isWrong || id === null}>
            Save
          </Button>
        </Stack>
      </form>
    </Modal>
  );
}
