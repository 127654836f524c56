import { Badge, Button, Group, Skeleton, Stack, Text, Title } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { peopleQuery } from "@/api/people";
import type { Account, Invitation, Person } from "@/api/types";
import { InvitationLinks } from "@/ui/InvitationLinks";
import { TimeAgo } from "@/ui/Quantity";
import { QueryError } from "@/ui/QueryError";
import { InvitePeople } from "./InvitePeople";
import { PersonMenu } from "./PersonMenu";
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
