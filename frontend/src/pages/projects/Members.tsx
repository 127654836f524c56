import { Button, Group, NativeSelect, Stack, Text, TextInput, Title } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import {
  membersQuery,
  useAddMember,
  useEditMember,
  useInviteMembers,
  useOpenProject,
  useRemoveMember,
} from "@/api/people";
import { sessionQuery } from "@/api/session";
import type { Invitation, NewMembers, ProjectMember, ProjectMembers, RoleName } from "@/api/types";
import { placeErrors } from "@/config-form/serverErrors";
import { capitalize } from "@/ui/format";
import { InvitationLinks } from "@/ui/InvitationLinks";
import { InviteDialog } from "@/ui/InviteDialog";
import classes from "./projects.module.css";

const ROLES: RoleName[] = ["viewer", "editor", "administrator"];
const CHOICES = ROLES.map((value) => ({ value, label: capitalize(value) }));

/** Who may do what in a project. Where nobody signs in, it is not shown. */
export function Members({ project }: { project: number }) {
  const required = useQuery(sessionQuery).data?.required ?? false;
  const members = useQuery({ ...membersQuery(project), enabled: required });
  if (!members.data) return null;
  const canEdit = members.data.your_role === "administrator";
  return (
    <section className={classes.card} aria-label="Members">
      <Stack gap="xs">
        <Title order={2}>Members</Title>
        <Everyone project={project} members={members.data} canEdit={canEdit} />
        {members.data.items.map((member) => (
          <Member key={member.id} project={project} member={member} canEdit={canEdit} />
        ))}
        {members.data.items.length === 0 && (
          <Text size="sm" c="dimmed">
            No one has a role in this project yet. Administrators of the installation see every project.
          </Text>
        )}
        {canEdit && <AddMember project={project} />}
        {canEdit && <InviteMembers project={project} />}
      </Stack>
    </section>
  );
}

interface RowProps {
  project: number;
  canEdit: boolean;
}

function Everyone({ project, members, canEdit }: RowProps & { members: ProjectMembers }) {
  const open = useOpenProject(project);
  const role = open.isPending ? open.variables : members.everyone;
  if (!canEdit)
    return (
      members.everyone && (
        <Text size="sm">Everyone with an account is {members.everyone} of this project.</Text>
      )
    );
  return (
    <Group justify="space-between" gap="xs">
      <Text size="sm">Everyone with an account</Text>
      <NativeSelect
        aria-label="Role of everyone with an account"
        w={152}
        value={role ?? ""}
        data={[{ value: "", label: "No access" }, ...CHOICES]}
        onChange={({ currentTarget: { value } }) => open.mutate(value ? (value as RoleName) : null)}
      />
    </Group>
  );
}

function Member({ project, member, canEdit }: RowProps & { member: ProjectMember }) {
  const edit = useEditMember(project);
  const remove = useRemoveMember(project);
  const name = member.person?.name ?? `Group ${member.group?.name ?? ""}`;
  return (
    <Group justify="space-between" gap="xs">
      <Text size="sm">{name}</Text>
      {canEdit ? (
        <Group gap="xs" wrap="nowrap">
          <NativeSelect
            aria-label={`Role of ${name}`}
            w={152}
            value={edit.isPending ? edit.variables.role : member.role}
            data={CHOICES}
            onChange={(event) => edit.mutate({ id: member.id, role: event.currentTarget.value as RoleName })}
          />
          <Button
            size="xs"
            h={36}
            variant="default"
            aria-label={`Remove ${name}`}
            loading={remove.isPending}
            onClick={() => remove.mutate(member.id)}
          >
            Remove
          </Button>
        </Group>
      ) : (
        <Text size="sm" c="dimmed">
          {capitalize(member.role)}
        </Text>
      )}
    </Group>
  );
}

function AddMember({ project }: { project: number }) {
  const [who, setWho] = useState("");
  const [role, setRole] = useState<RoleName>("editor");
  const add = useAddMember(project);
  const { byField = {}, general = [] } = add.error ? placeErrors(add.error, ["email", "group"]) : {};
  const problem = [byField.email, byField.group, ...general].filter(Boolean).join(". ");
  function submit(event: FormEvent) {
    event.preventDefault();
    const name = who.trim();
    add.mutate(
      { role, ...(name.includes("@") ? { email: name } : { group: name }) },
      { onSuccess: () => setWho("") },
    );
  }
  return (
    <form onSubmit={submit}>
      <Group gap="xs" align="start">
        <TextInput
          aria-label="E-mail address or group"
          placeholder="E-mail address or group"
          style={{ flex: "1 1 200px" }}
          value={who}
          error={problem}
          onChange={(event) => setWho(event.currentTarget.value)}
        />
        <NativeSelect
          aria-label="Role of the new member"
          w={152}
          value={role}
          data={CHOICES}
          onChange={(event) => setRole(event.currentTarget.value as RoleName)}
        />
        <Button type="submit" variant="default" loading={add.isPending} disabled={!who.trim()}>
          Add member
        </Button>
      </Group>
    </form>
  );
}

const INVITED_ROLES: { value: NewMembers["role"]; label: string }[] = [
  { value: "viewer", label: "Viewer: sees everything" },
  { value: "editor", label: "Editor: launches and changes" },
];

/** Button to invite people without an account into a project, and their links. */
function InviteMembers({ project }: { project: number }) {
  const { mutate, error, isPending, reset } = useInviteMembers(project);
  const [inviting, invite] = useDisclosure(false, { onClose: reset });
  const [role, setRole] = useState<NewMembers["role"]>("editor");
  const [invitations, setInvitations] = useState<Invitation[]>([]);
  return (
    <Group gap="xs" justify="space-between">
      <Text size="sm" c="dimmed">
        They have no account yet?
      </Text>
      <Button variant="default" onClick={invite.open}>
        Invite people
      </Button>
      {inviting && (
        <InviteDialog
          error={error}
          isPending={isPending}
          onClose={invite.close}
          onSubmit={(people) =>
            mutate(
              { people, role },
              {
                onSuccess: (invited) => {
                  invite.close();
                  setInvitations(invited);
                },
              },
            )
          }
        >
          <NativeSelect
            label="Role in this project"
            value={role}
            data={INVITED_ROLES}
            onChange={(event) => setRole(event.currentTarget.value as NewMembers["role"])}
          />
        </InviteDialog>
      )}
      {invitations.length > 0 && (
        <InvitationLinks invitations={invitations} onClose={() => setInvitations([])} />
      )}
    </Group>
  );
}
