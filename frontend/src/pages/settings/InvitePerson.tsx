import { Button, Checkbox, Group, Modal, NativeSelect, Stack, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { useInvite } from "@/api/people";
import { projectsQuery } from "@/api/projects";
import type { Invitation, RoleName } from "@/api/types";
import { placeErrors } from "@/config-form/serverErrors";
import { FormErrors } from "@/ui/FormErrors";

const ROLES: { value: RoleName; label: string }[] = [
  { value: "viewer", label: "Viewer: sees everything" },
  { value: "editor", label: "Editor: launches and changes" },
  { value: "administrator", label: "Administrator: chooses members" },
];

interface InvitePersonProps {
  onInvited: (invitation: Invitation) => void;
  onClose: () => void;
}

/** Dialog to invite a person, with the first role. */
export function InvitePerson({ onInvited, onClose }: InvitePersonProps) {
  const projects = useQuery(projectsQuery).data ?? [];
  const invite = useInvite();
  const [name, setName] = useState("");
  const [email, setEmail] = useState("");
  const [project, setProject] = useState("");
  const [role, setRole] = useState<RoleName>("editor");
  const [isAdministrator, setAdministrator] = useState(false);
  const { byField, general } = invite.error
    ? placeErrors(invite.error, ["name", "email", "project"])
    : { byField: {} as Record<string, string>, general: [] };

  function submit(event: FormEvent) {
    event.preventDefault();
    invite.mutate(
      {
        name: name.trim(),
        email: email.trim(),
        is_administrator: isAdministrator,
        role,
        ...(project && !isAdministrator && { project }),
      },
      {
        onSuccess: (invitation) => {
          onClose();
          onInvited(invitation);
        },
      },
    );
  }

  return (
    <Modal opened onClose={onClose} title="Invite person" closeButtonProps={{ "aria-label": "Close" }}>
      <form onSubmit={submit} noValidate>
        <Stack gap="md">
          <TextInput
            data-autofocus
            label="Name"
            maxLength={100}
            value={name}
            error={byField.name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <TextInput
            label="E-mail address"
            description="They sign in with it."
            type="email"
            value={email}
            error={byField.email}
            onChange={(event) => setEmail(event.currentTarget.value)}
          />
          <Checkbox
            label="Administrator of the installation"
            description="Sees and changes everything, and invites people."
            checked={isAdministrator}
            onChange={(event) => setAdministrator(event.currentTarget.checked)}
          />
          {!isAdministrator && (
            <>
              <NativeSelect
                label="Project"
                value={project}
                error={byField.project}
                onChange={(event) => setProject(event.currentTarget.value)}
                data={[{ value: "", label: "None yet" }, ...projects.map((each) => each.name)]}
              />
              {project && (
                <NativeSelect
                  label="Role"
                  value={role}
                  onChange={(event) => setRole(event.currentTarget.value as RoleName)}
                  data={ROLES}
                />
              )}
            </>
          )}
          <FormErrors messages={general} />
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={invite.isPending} disabled={!name.trim() || !email.trim()}>
              Create link
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
