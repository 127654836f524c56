import { Badge, Button, Group, PasswordInput, Stack, Text, TextInput, Title } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { useChangePassword, useEditAccount } from "@/api/people";
import type { Account, Person } from "@/api/types";
import { placeErrors } from "@/config-form/serverErrors";
import { FormErrors } from "@/ui/FormErrors";
import { notifyDone } from "@/ui/notify";
import { Roles } from "./Roles";
import classes from "./settings.module.css";

/** Your name, your roles and your password. */
export function AccountTab({ account }: { account: Account }) {
  const person = account.person;
  if (!person) return null;
  return (
    <Stack gap="md">
      <Profile person={person} />
      <section className={classes.card} aria-label="Your roles">
        <Title order={2}>Your roles</Title>
        {person.is_administrator ? (
          <Text size="sm" mt="xs">
            You administer the installation: you see and change everything.
          </Text>
        ) : person.roles.length > 0 ? (
          <Roles roles={person.roles} />
        ) : (
          <Text size="sm" mt="xs">
            You have no role in any project yet. Ask an administrator for one.
          </Text>
        )}
      </section>
      {person.has_password ? <Password person={person} /> : <NoPassword />}
    </Stack>
  );
}

function Profile({ person }: { person: Person }) {
  const [name, setName] = useState(person.name);
  const edit = useEditAccount();
  function submit(event: FormEvent) {
    event.preventDefault();
    edit.mutate(name.trim(), { onSuccess: () => notifyDone("Your name is saved.") });
  }
  return (
    <section className={classes.card} aria-label="Your name">
      <form onSubmit={submit}>
        <Group justify="space-between" gap="xs">
          <Title order={2}>{person.name}</Title>
          {person.is_administrator && (
            <Badge size="sm" variant="light" tt="none">
              Administrator
            </Badge>
          )}
        </Group>
        <Text size="sm" c="dimmed">
          {person.email}
        </Text>
        <Group gap="xs" align="end" mt="sm">
          <TextInput
            label="Name"
            autoComplete="name"
            maxLength={100}
            w={280}
            maw="100%"
            value={name}
            error={edit.error?.message}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <Button
            type="submit"
            variant="default"
            loading={edit.isPending}
            disabled={!name.trim() || name.trim() === person.name}
          >
            Save name
          </Button>
        </Group>
      </form>
    </section>
  );
}

function NoPassword() {
  return (
    <section className={classes.card} aria-label="Password">
      <Title order={2}>Password</Title>
      <Text size="sm" mt="xs">
        You sign in without a password. An administrator can allow one with a one-time link.
      </Text>
    </section>
  );
}

function Password({ person }: { person: Person }) {
  const change = useChangePassword();
  const [old, setOld] = useState("");
  const [fresh, setFresh] = useState("");
  const { byField, general } = change.error
    ? placeErrors(change.error, ["old_password", "new_password"])
    : { byField: {} as Record<string, string>, general: [] };

  function submit(event: FormEvent) {
    event.preventDefault();
    change.mutate(
      { old_password: old, new_password: fresh },
      {
        onSuccess: () => {
          setOld("");
          setFresh("");
          notifyDone("Your password is changed. All other sessions have ended.");
        },
      },
    );
  }

  return (
    <section className={classes.card} aria-label="Password">
      <form onSubmit={submit}>
        <Stack gap="sm" maw={320}>
          <Title order={2}>Password</Title>
          <input type="text" autoComplete="username" value={person.email ?? ""} readOnly hidden />
          <PasswordInput
            label="Current password"
            autoComplete="current-password"
            value={old}
            error={byField.old_password}
            onChange={(event) => setOld(event.currentTarget.value)}
          />
          <PasswordInput
            label="New password"
            description="At least 12 characters"
            autoComplete="new-password"
            value={fresh}
            error={byField.new_password}
            onChange={(event) => setFresh(event.currentTarget.value)}
          />
          <FormErrors messages={general} />
          <Button
            type="submit"
            variant="default"
            w="fit-content"
            loading={change.isPending}
            disabled={!old || !fresh}
          >
            Change password
          </Button>
        </Stack>
      </form>
    </section>
  );
}
