import { Button, Group, List, Stack, Text, Title } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { type FormEvent, useState } from "react";
import { useCreateFirst } from "@/api/people";
import { placeErrors } from "@/config-form/serverErrors";
import { AccountFields } from "@/ui/AccountFields";
import { FormErrors } from "@/ui/FormErrors";
import classes from "./settings.module.css";

/** Offer to create the first account, where nobody signs in yet. */
export function FirstAccountCard() {
  const [isOpen, form] = useDisclosure(false);
  return (
    <section className={classes.card} aria-label="First account">
      <Stack gap="sm" py="xs" maw={480}>
        <Title order={2}>Nobody signs in here</Title>
        <Text size="sm">
          Everyone who uses this machine can see and change everything. With accounts, several people share
          this server:
        </Text>
        <List size="sm">
          <List.Item>Each person has roles in projects, and sees only these.</List.Item>
          <List.Item>Scripts and workers get tokens of their own.</List.Item>
          <List.Item>A log says who did what.</List.Item>
        </List>
        {isOpen ? (
          <FirstAccountForm onCancel={form.close} />
        ) : (
          <Button w="fit-content" onClick={form.open}>
            Create the first account
          </Button>
        )}
      </Stack>
    </section>
  );
}

function FirstAccountForm({ onCancel }: { onCancel: () => void }) {
  const create = useCreateFirst();
  const [account, setAccount] = useState({ name: "", email: "", password: "" });
  const { name, email, password } = account;
  const { byField, general } = create.error
    ? placeErrors(create.error, ["name", "email", "password"])
    : { byField: {} as Record<string, string>, general: [] };

  function submit(event: FormEvent) {
    event.preventDefault();
    create.mutate({ name: name.trim(), email: email.trim(), password });
  }

  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <Text size="sm">
          You become administrator, and get all earlier runs. From then on everyone signs in, also you, and
          scripts need a token.
        </Text>
        <AccountFields account={account} problems={byField} onChange={setAccount} />
        <FormErrors messages={general} />
        <Group gap="xs">
          <Button
            type="submit"
            loading={create.isPending}
            disabled={!name.trim() || !email.trim() || !password}
          >
            Create account
          </Button>
          <Button variant="default" onClick={onCancel}>
            Cancel
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
