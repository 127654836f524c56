import { Button, Checkbox, Group, Modal, NativeSelect, Stack, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { useCreateToken } from "@/api/people";
import { projectsQuery } from "@/api/projects";
import type { CreatedToken, TokenScope } from "@/api/types";
import { placeErrors } from "@/config-form/serverErrors";
import { FormErrors } from "@/ui/FormErrors";

const SCOPES: { value: TokenScope; label: string; description: string }[] = [
  { value: "read", label: "Read", description: "See what you may see." },
  { value: "write", label: "Write", description: "Launch, stop and change." },
  { value: "log", label: "Log", description: "Log runs from scripts." },
];
const WORKER = { value: "worker", label: "Worker", description: "Train runs of all projects." };
const LIFETIMES = [
  { value: "7", label: "in 7 days" },
  { value: "30", label: "in 30 days" },
  { value: "90", label: "in 90 days" },
  { value: "365", label: "in a year" },
  { value: "", label: "never" },
];

interface CreateTokenProps {
  isAdministrator: boolean;
  onCreated: (token: CreatedToken) => void;
  onClose: () => void;
}

/** Dialog to create a token. */
export function CreateToken({ isAdministrator, onCreated, onClose }: CreateTokenProps) {
  const projects = useQuery(projectsQuery).data ?? [];
  const create = useCreateToken();
  const [name, setName] = useState("");
  const [scopes, setScopes] = useState<string[]>(["read"]);
  const [project, setProject] = useState("");
  const [days, setDays] = useState("90");
  const { byField, general } = create.error
    ? placeErrors(create.error, ["name", "scopes", "project", "days"])
    : { byField: {} as Record<string, string>, general: [] };

  function submit(event: FormEvent) {
    event.preventDefault();
    create.mutate(
      {
        name: name.trim(),
        scopes: scopes as TokenScope[],
        project: project || null,
        days: days ? Number(days) : null,
      },
      {
        onSuccess: (token) => {
          onClose();
          onCreated(token);
        },
      },
    );
  }

  return (
    <Modal opened onClose={onClose} title="Create token" closeButtonProps={{ "aria-label": "Close" }}>
      <form onSubmit={submit} noValidate>
        <Stack gap="md">
          <TextInput
            data-autofocus
            label="Name"
            description="What uses it, such as cluster or notebook"
            maxLength={100}
            value={name}
            error={byField.name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <Checkbox.Group label="It may" value={scopes} error={byField.scopes} onChange={setScopes}>
            <Stack gap="xs" mt="xs">
              {[...SCOPES, ...(isAdministrator ? [WORKER] : [])].map((scope) => (
                <Checkbox key={scope.value} {...scope} />
              ))}
            </Stack>
          </Checkbox.Group>
          <Group gap="xs" grow align="start">
            <NativeSelect
              label="Project"
              value={project}
              error={byField.project}
              onChange={(event) => setProject(event.currentTarget.value)}
              data={[{ value: "", label: "All of mine" }, ...projects.map((each) => each.name)]}
            />
            <NativeSelect
              label="Expires"
              value={days}
              onChange={(event) => setDays(event.currentTarget.value)}
              data={LIFETIMES}
            />
          </Group>
          <FormErrors messages={general} />
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={create.isPending} disabled={!name.trim() || scopes.length === 0}>
              Create token
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
