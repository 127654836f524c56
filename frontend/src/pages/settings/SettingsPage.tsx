import { Button, Group, List, Skeleton, Stack, Tabs, Text, Title } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { type ComponentType, type FormEvent, useState } from "react";
import { useNavigate, useParams } from "react-router";
import { useCreateFirst } from "@/api/people";
import { accountQuery } from "@/api/session";
import type { Account } from "@/api/types";
import { placeErrors } from "@/config-form/serverErrors";
import { AccountFields } from "@/ui/AccountFields";
import { EmptyState } from "@/ui/EmptyState";
import { FormErrors } from "@/ui/FormErrors";
import { QueryError } from "@/ui/QueryError";
import { usePageTitle } from "@/ui/usePageTitle";
import { AccountTab } from "./AccountTab";
import { AuditTab } from "./AuditTab";
import { GroupsTab } from "./GroupsTab";
import { PeopleTab } from "./PeopleTab";
import { SessionsTab } from "./SessionsTab";
import { TokensTab } from "./TokensTab";
import classes from "./settings.module.css";

interface TabProps {
  account: Account;
}

interface Tab {
  value: string;
  label: string;
  Content: ComponentType<TabProps>;
  /** Whether the account may open it. By default everyone with an account. */
  isFor?: (account: Account) => boolean;
}

const isAdministrator = (account: Account) => account.is_administrator;
const administersProject = (account: Account) =>
  account.is_administrator || (account.person?.roles ?? []).some(({ role }) => role === "administrator");

const TABS: Tab[] = [
  { value: "account", label: "Account", Content: AccountTab },
  { value: "tokens", label: "Tokens", Content: TokensTab },
  { value: "sessions", label: "Sessions", Content: SessionsTab },
  { value: "people", label: "People", Content: PeopleTab, isFor: isAdministrator },
  { value: "groups", label: "Groups", Content: GroupsTab, isFor: isAdministrator },
  { value: "audit", label: "Audit log", Content: AuditTab, isFor: administersProject },
];

/** People and access: your account, and for administrators people, groups and the audit log. */
export default function SettingsPage() {
  usePageTitle("Settings");
  const account = useQuery(accountQuery);
  return (
    <Stack className={classes.sheet} gap="md">
      <Stack gap={4}>
        <Title order={1}>People and access</Title>
        <Text size="sm" c="dimmed">
          Who signs in here, and what they may see and change.
        </Text>
      </Stack>
      {account.data ? (
        <Content account={account.data} />
      ) : account.error ? (
        <QueryError error={account.error} retry={() => void account.refetch()} />
      ) : (
        <Skeleton height={240} radius="sm" role="status" aria-label="Loading your account…" />
      )}
    </Stack>
  );
}

function Content({ account }: TabProps) {
  const { tab } = useParams();
  const navigate = useNavigate();
  if (account.can_create_first) return <FirstAccountCard />;
  if (!account.person)
    return <EmptyState title="You have no account here">Sign in with an account to see it.</EmptyState>;
  const shown = TABS.filter(({ isFor }) => !isFor || isFor(account));
  const current = shown.find(({ value }) => value === tab)?.value ?? "account";
  const open = (value: string | null) => void navigate(`/settings/${value ?? "account"}`, { replace: true });
  return (
    <Tabs value={current} onChange={open} keepMounted={false}>
      <Tabs.List className={classes.tabs ?? ""}>
        {shown.map(({ value, label }) => (
          <Tabs.Tab key={value} value={value}>
            {label}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {shown.map(({ value, Content: Panel }) => (
        <Tabs.Panel key={value} value={value} pt="md">
          <Panel account={account} />
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}

/** Offer to create the first account, where nobody signs in yet. */
function FirstAccountCard() {
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
          <List.Item>Scripts and workers get separate tokens.</List.Item>
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
