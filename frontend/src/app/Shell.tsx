import { AppShell, Button, Group } from "@mantine/core";
import { Link, Outlet } from "react-router";
import { LiveProvider } from "@/api/live/LiveProvider";

export function Shell() {
  return (
    <LiveProvider>
      <AppShell header={{ height: 56 }} padding="md">
        <AppShell.Header>
          <Group h="100%" px="md">
            <Link to="/">Arcadia</Link>
            <Button component={Link} to="/launch">
              Launch run
            </Button>
          </Group>
        </AppShell.Header>
        <AppShell.Main>
          <Outlet />
        </AppShell.Main>
      </AppShell>
    </LiveProvider>
  );
}
