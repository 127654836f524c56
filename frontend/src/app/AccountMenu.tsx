import { ActionIcon, Menu, Text } from "@mantine/core";
import {
  IconDevices,
  IconFilter,
  IconLogout,
  IconSettings,
  IconSparkles,
  IconUser,
} from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { accountQuery, useSignOut, useSignOutEverywhere } from "@/api/session";

const MY_RUNS = `/?filter=${encodeURIComponent("person = me")}`;

/** Menu of the signed-in person, with the settings and the sign-out. */
export function AccountMenu() {
  const account = useQuery(accountQuery).data;
  const signOut = useSignOut();
  const signOutEverywhere = useSignOutEverywhere();
  const person = account?.person;
  return (
    <Menu position="bottom-end" width={232}>
      <Menu.Target>
        <ActionIcon size={32} aria-label={person ? `Account of ${person.name}` : "Account"} visibleFrom="xs">
          <IconUser size={18} stroke={1.75} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {person && (
          <Menu.Label>
            <Text size="sm" fw={500} c="var(--mantine-color-text)" truncate>
              {person.name}
            </Text>
            <Text size="xs" truncate>
              {person.email}
            </Text>
          </Menu.Label>
        )}
        {person && (
          <Menu.Item component={Link} to={MY_RUNS} leftSection={<IconFilter size={16} />}>
            My runs
          </Menu.Item>
        )}
        <Menu.Item component={Link} to="/settings" leftSection={<IconSettings size={16} />}>
          Settings
        </Menu.Item>
        <Menu.Item component={Link} to="/examples" leftSection={<IconSparkles size={16} />}>
          Examples
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item leftSection={<IconLogout size={16} />} onClick={() => signOut.mutate()}>
          Sign out
        </Menu.Item>
        {person && (
          <Menu.Item leftSection={<IconDevices size={16} />} onClick={() => signOutEverywhere.mutate()}>
            Sign out everywhere
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}

/** Settings and sign-out in the menu of pages, on a phone. */
export function AccountItems() {
  const signOut = useSignOut();
  return (
    <>
      <Menu.Item component={Link} to="/settings" py={12} hiddenFrom="xs">
        Settings
      </Menu.Item>
      <Menu.Item py={12} hiddenFrom="xs" onClick={() => signOut.mutate()}>
        Sign out
      </Menu.Item>
    </>
  );
}
