import { Button, Group, NativeSelect, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useState } from "react";
import { useInviteMembers } from "@/api/people";
import type { Invitation, NewMembers } from "@/api/types";
import { InvitationLinks } from "@/ui/InvitationLinks";
import { InviteDialog } from "@/ui/InviteDialog";

const ROLES: { value: NewMembers["role"]; label: string }[] = [
  { value: "viewer", label: "Viewer: sees everything" },
  { value: "editor", label: "Editor: launches and changes" },
];

/** Button to invite people without an account into a project, and their links. */
export function InviteMembers({ project }: { project: number }) {
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
            data={ROLES}
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
