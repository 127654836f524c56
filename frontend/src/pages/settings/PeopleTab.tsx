import {
  ActionIcon,
  Badge,
  Button,
  Checkbox,
  Group,
  Menu,
  NativeSelect,
  Skeleton,
  Stack,
  Text,
  Title,
} from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import {
  IconDots,
  IconKeyOff,
  IconLink,
  IconLogout,
  IconPlus,
  IconShield,
  IconUserOff,
} from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import {
  peopleQuery,
  useCreateLink,
  useEditPerson,
  useInvite,
  useRevokeTokensOf,
  useSignPersonOut,
} from "@/api/people";
import { projectsQuery } from "@/api/projects";
import type { Account, Invitation, Person, RoleName } from "@/api/types";
import { ConfirmModal } from "@/ui/ConfirmModal";
import { InvitationLinks } from "@/ui/InvitationLinks";
import { InviteDialog } from "@/ui/InviteDialog";
import { MenuAction } from "@/ui/MenuAction";
import { notifyDone } from "@/ui/notify";
import { TimeAgo } from "@/ui/Quantity";
import { QueryError } from "@/ui/QueryError";
import { Roles } from "./Roles";
import classes from "./settings.module.css";

/** Everyone with an account, and the dialog to invite more. */
export function PeopleTab({ account }: { account: Account }) {
  const people = useQuery(peopleQuery);
  const [inviting, invite] = useDisclosure(false);
  const [invitations, setInvitations] = useState<Invitation[]>([]);
  return (
    <section className={classes.card} aria-label="People">
      <Group justify="space-between" gap="xs">
        <Title order={2}>People</Title>
        <Button size="xs" leftSection={<IconPlus size={16} />} onClick={invite.open}>
          Invite people
        </Button>
      </Group>
      {people.isError && !people.data && (
        <QueryError error={people.error} retry={() => void people.refetch()} />
      )}
      {people.isPending && <Skeleton height={160} mt="xs" role="status" aria-label="Loading people…" />}
      {people.data?.map((person) => (
        <div key={person.id} className={classes.row} data-ended={person.disabled || undefined}>
          <PersonFacts person={person} isYou={person.id === account.person?.id} />
          <PersonMenu
            person={person}
            isYou={person.id === account.person?.id}
            onInvitation={(invitation) => setInvitations([invitation])}
          />
        </div>
      ))}
      {inviting && (
        <InvitePeople
          onInvited={(invited) => {
            invite.close();
            setInvitations(invited);
          }}
          onClose={invite.close}
        />
      )}
      {invitations.length > 0 && (
        <InvitationLinks invitations={invitations} onClose={() => setInvitations([])} />
      )}
    </section>
  );
}

function PersonFacts({ person, isYou }: { person: Person; isYou: boolean }) {
  return (
    <Stack gap={2} className={classes.facts ?? ""}>
      <Group gap={8}>
        <Text size="sm" fw={500}>
          {person.name}
          {isYou && " (you)"}
        </Text>
        {person.is_administrator && (
          <Badge size="sm" variant="light" tt="none">
            Administrator
          </Badge>
        )}
        {person.disabled && (
          <Badge size="sm" color="gray" variant="light" tt="none">
            Disabled
          </Badge>
        )}
        {!person.has_password && !person.disabled && (
          <Badge size="sm" color="gray" variant="light" tt="none">
            Invited
          </Badge>
        )}
      </Group>
      <p className={classes.dim}>
        {person.email}
        {person.last_seen_at && (
          <>
            {" "}
            · last seen <TimeAgo time={person.last_seen_at} />
          </>
        )}
      </p>
      {!person.is_administrator &&
        (person.roles.length > 0 ? (
          <Roles roles={person.roles} />
        ) : (
          <Text size="sm">no role yet: add {person.name} on the page of a project</Text>
        ))}
    </Stack>
  );
}

const ROLES: { value: RoleName; label: string }[] = [
  { value: "viewer", label: "Viewer: sees everything" },
  { value: "editor", label: "Editor: launches and changes" },
  { value: "administrator", label: "Administrator: chooses members" },
];

interface InvitePeopleProps {
  onInvited: (invitations: Invitation[]) => void;
  onClose: () => void;
}

/** Dialog to invite people, with their first role. */
function InvitePeople({ onInvited, onClose }: InvitePeopleProps) {
  const projects = useQuery(projectsQuery).data ?? [];
  const { mutate, error, isPending } = useInvite();
  const [project, setProject] = useState("");
  const [role, setRole] = useState<RoleName>("editor");
  const [isAdministrator, setAdministrator] = useState(false);
  const hasProject = project !== "" && !isAdministrator;
  return (
    <InviteDialog
      error={error}
      isPending={isPending}
      onClose={onClose}
      onSubmit={(people) =>
        mutate(
          { people, is_administrator: isAdministrator, role, ...(hasProject && { project }) },
          { onSuccess: onInvited },
        )
      }
    >
      <Checkbox
        label="Administrator of the installation"
        description="Sees and changes everything, and invites people."
        checked={isAdministrator}
        onChange={(event) => setAdministrator(event.currentTarget.checked)}
      />
      {!isAdministrator && (
        <NativeSelect
          label="Project"
          value={project}
          onChange={(event) => setProject(event.currentTarget.value)}
          data={[{ value: "", label: "None yet" }, ...projects.map((each) => each.name)]}
        />
      )}
      {hasProject && (
        <NativeSelect
          label="Role"
          value={role}
          onChange={(event) => setRole(event.currentTarget.value as RoleName)}
          data={ROLES}
        />
      )}
    </InviteDialog>
  );
}

interface PersonMenuProps {
  person: Person;
  isYou: boolean;
  onInvitation: (invitation: Invitation) => void;
}

/** Menu of a person: a new link, sign out, administrator, and disable. */
function PersonMenu({ person, isYou, onInvitation }: PersonMenuProps) {
  const [isDisabling, setDisabling] = useState(false);
  const link = useCreateLink();
  const signOut = useSignPersonOut();
  const revoke = useRevokeTokensOf();
  const edit = useEditPerson();
  return (
    <>
      <Menu width={256} position="bottom-end" keepMounted={false}>
        <Menu.Target>
          <ActionIcon size={32} aria-label={`Actions for ${person.name}`}>
            <IconDots size={18} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <MenuAction
            Icon={IconLink}
            label={person.has_password ? "New password link" : "New invitation link"}
            blocked={person.disabled ? "Enable the person first." : null}
            onClick={() => link.mutate(person.id, { onSuccess: onInvitation })}
          />
          <MenuAction
            Icon={IconLogout}
            label="Sign out everywhere"
            blocked={null}
            onClick={() =>
              signOut.mutate(person.id, { onSuccess: () => notifyDone(`${person.name} is signed out.`) })
            }
          />
          <MenuAction
            Icon={IconKeyOff}
            label="Revoke all tokens"
            blocked={null}
            onClick={() =>
              revoke.mutate(person.id, {
                onSuccess: () => notifyDone(`The tokens of ${person.name} are revoked.`),
              })
            }
          />
          <MenuAction
            Icon={IconShield}
            label={person.is_administrator ? "Remove as administrator" : "Make administrator"}
            blocked={null}
            onClick={() => edit.mutate({ id: person.id, is_administrator: !person.is_administrator })}
          />
          <MenuAction
            Icon={IconUserOff}
            label={person.disabled ? "Enable" : "Disable…"}
            blocked={isYou ? "Another administrator can disable you." : null}
            onClick={() =>
              person.disabled ? edit.mutate({ id: person.id, disabled: false }) : setDisabling(true)
            }
          />
        </Menu.Dropdown>
      </Menu>
      {isDisabling && (
        <ConfirmModal
          opened
          title={`Disable ${person.name}?`}
          action="Disable"
          danger
          busy={edit.isPending}
          onConfirm={() =>
            edit.mutate({ id: person.id, disabled: true }, { onSettled: () => setDisabling(false) })
          }
          onClose={() => setDisabling(false)}
        >
          <Text size="sm">
            {person.name} is signed out, and their tokens are revoked. Runs and the audit log keep the name.
          </Text>
        </ConfirmModal>
      )}
    </>
  );
}
