import { Button, Group, MultiSelect, Skeleton, Text, TextInput, Title } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { peopleQuery, personGroupsQuery, useCreateGroup, useDeleteGroup, useEditGroup } from "@/api/people";
import type { PersonGroup } from "@/api/types";
import { ConfirmModal } from "@/ui/ConfirmModal";
import { QueryError } from "@/ui/QueryError";
import classes from "./settings.module.css";

/** Groups of people. Their roles are chosen on the pages of projects. */
export function GroupsTab() {
  const groups = useQuery(personGroupsQuery);
  return (
    <section className={classes.card} aria-label="Groups">
      <Title order={2}>Groups</Title>
      <Text size="sm" c="dimmed" mt={4}>
        A group passes its roles to its members. Give it a role on the page of a project, under Members.
      </Text>
      {groups.isError && !groups.data && (
        <QueryError error={groups.error} retry={() => void groups.refetch()} />
      )}
      {groups.isPending && <Skeleton height={96} mt="xs" role="status" aria-label="Loading groups…" />}
      {groups.data?.map((group) => (
        <GroupRow key={group.id} group={group} />
      ))}
      {groups.data && <NewGroup />}
    </section>
  );
}

function GroupRow({ group }: { group: PersonGroup }) {
  const people = useQuery(peopleQuery).data ?? [];
  const edit = useEditGroup();
  const remove = useDeleteGroup();
  const [isRemoving, removing] = useDisclosure(false);
  const members = edit.isPending ? (edit.variables.members ?? []) : group.members.map(({ id }) => id);
  return (
    <div className={classes.row}>
      <div className={classes.facts}>
        <Text size="sm" fw={500}>
          {group.name}
        </Text>
        {group.from_oidc && <p className={classes.dim}>Its members come from the sign-in provider.</p>}
        <MultiSelect
          aria-label={`Members of ${group.name}`}
          placeholder={members.length > 0 ? "" : "Choose people"}
          searchable
          mt={4}
          maw={560}
          disabled={group.from_oidc}
          data={people.map(({ id, name }) => ({ value: String(id), label: name }))}
          value={members.map(String)}
          onChange={(ids) => edit.mutate({ id: group.id, members: ids.map(Number) })}
        />
      </div>
      <Button size="xs" variant="default" aria-label={`Delete ${group.name}`} onClick={removing.open}>
        Delete
      </Button>
      {isRemoving && (
        <ConfirmModal
          opened
          title={`Delete group ${group.name}?`}
          action="Delete group"
          danger
          busy={remove.isPending}
          onConfirm={() => remove.mutate(group.id, { onSettled: removing.close })}
          onClose={removing.close}
        >
          <Text size="sm">Its members lose the roles that the group has. Their accounts stay.</Text>
        </ConfirmModal>
      )}
    </div>
  );
}

function NewGroup() {
  const [name, setName] = useState("");
  const create = useCreateGroup();
  function submit(event: FormEvent) {
    event.preventDefault();
    create.mutate(name.trim(), { onSuccess: () => setName("") });
  }
  return (
    <form onSubmit={submit}>
      <Group gap="xs" align="start" mt="sm" mb="xs">
        <TextInput
          aria-label="Name of the new group"
          placeholder="New group"
          maxLength={100}
          value={name}
          error={create.error?.message}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Button type="submit" variant="default" loading={create.isPending} disabled={!name.trim()}>
          Create group
        </Button>
      </Group>
    </form>
  );
}
