import {
  ActionIcon,
  Burger,
  Button,
  type MantineColorScheme,
  Menu,
  Text,
  Tooltip,
  useMantineColorScheme,
} from "@mantine/core";
import {
  IconBell,
  IconCheck,
  IconDeviceDesktop,
  IconDevices,
  IconFilter,
  IconKeyboard,
  IconLogout,
  IconMoon,
  IconPlus,
  IconSettings,
  IconSparkles,
  IconSun,
  IconUser,
} from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { Link, NavLink, useNavigate } from "react-router";
import { alertKeys, newestAlertsQuery } from "@/api/alerts";
import { useLiveEvents, useLiveStatus } from "@/api/live/LiveProvider";
import { useMayWrite } from "@/api/projects";
import { accountQuery, useSignOut, useSignOutEverywhere } from "@/api/session";
import { ofAny } from "@/api/topics";
import { showNewAlerts } from "@/ui/browserNotifications";
import { ProjectSwitcher } from "./ProjectSwitcher";
import classes from "./Shell.module.css";

/** The pages in the header. */
export const PAGES = [
  { to: "/", name: "Runs" },
  { to: "/compare", name: "Compare" },
  { to: "/studies", name: "Studies" },
  { to: "/papers", name: "Papers" },
  { to: "/reports", name: "Reports" },
  { to: "/artifacts", name: "Artifacts" },
  { to: "/games", name: "Games" },
  { to: "/wall", name: "Wall" },
  { to: "/workers", name: "Workers" },
];

interface HeaderProps {
  canSignOut: boolean;
  onShortcuts: () => void;
}

export function Header({ canSignOut, onShortcuts }: HeaderProps) {
  const mayWrite = useMayWrite();
  return (
    <div className={classes.header}>
      <PagesMenu canSignOut={canSignOut} />
      <Link to="/" className={classes.brand} aria-label="Arcadia: runs">
        <img src="/logo.svg" alt="" width={24} height={24} />
        <span className={classes.wide}>Arcadia</span>
      </Link>
      <ProjectSwitcher />
      <nav className={classes.nav} aria-label="Pages">
        {PAGES.map(({ to, name }) => (
          <NavLink key={to} to={to} className={classes.link} end>
            {name}
          </NavLink>
        ))}
      </nav>
      <ConnectionStatus />
      <AlertBell />
      <Tooltip label="Keyboard shortcuts (?)">
        <ActionIcon size={32} aria-label="Keyboard shortcuts" onClick={onShortcuts} visibleFrom="sm">
          <IconKeyboard size={18} stroke={1.75} />
        </ActionIcon>
      </Tooltip>
      <ThemeSwitch hasSettings={!canSignOut} />
      {canSignOut && <AccountMenu />}
      {mayWrite && (
        <Button
          component={Link}
          to="/launch"
          leftSection={<IconPlus size={16} />}
          ml={4}
          h={32}
          px="sm"
          className={classes.launch}
          aria-label="Launch run"
        >
          <span className={classes.wide}>Launch run</span>
        </Button>
      )}
    </div>
  );
}

function PagesMenu({ canSignOut }: { canSignOut: boolean }) {
  return (
    <Menu position="bottom-start">
      <Menu.Target>
        <Burger size="sm" aria-label="Pages" hiddenFrom="lg" />
      </Menu.Target>
      <Menu.Dropdown>
        {PAGES.map(({ to, name }) => (
          <Menu.Item key={to} component={Link} to={to} py={12}>
            {name}
          </Menu.Item>
        ))}
        <Menu.Item component={Link} to="/examples" py={12}>
          Examples
        </Menu.Item>
        {canSignOut && <AccountItems />}
      </Menu.Dropdown>
    </Menu>
  );
}

const MAX_COUNT = 99;

/** Link to the alerts with the number of unread ones. It also shows new alerts as notifications of the browser. */
export function AlertBell() {
  const client = useQueryClient();
  const navigate = useNavigate();
  const { data } = useQuery(newestAlertsQuery);
  useLiveEvents(ofAny("alerts.changed"), ({ kind }) => {
    // Also in a hidden tab, because notifications are most useful there.
    if (kind === "alerts.changed" || kind === "refetch")
      void client.invalidateQueries({ queryKey: alertKeys.all });
  });
  useEffect(() => {
    if (data) showNewAlerts(data.items, (path) => void navigate(path));
  }, [data, navigate]);
  const unread = data?.unread ?? 0;
  const name = unread > 0 ? `Alerts, ${unread} unread` : "Alerts";
  return (
    <Tooltip label={name}>
      <ActionIcon component={Link} to="/alerts" size={32} aria-label={name} className={classes.bell}>
        <IconBell size={18} stroke={1.75} />
        {unread > 0 && (
          <span className={classes.unread} aria-hidden>
            {unread > MAX_COUNT ? `${MAX_COUNT}+` : unread}
          </span>
        )}
      </ActionIcon>
    </Tooltip>
  );
}

/** Shorter interruptions are not shown. */
const DELAY_MS = 1500;

/** Shows when the live connection is lost. The page keeps its content. */
function ConnectionStatus() {
  const status = useLiveStatus();
  const [isLate, setIsLate] = useState(false);
  useEffect(() => {
    if (status === "live") return;
    const timer = setTimeout(() => setIsLate(true), DELAY_MS);
    return () => {
      clearTimeout(timer);
      setIsLate(false);
    };
  }, [status]);
  return (
    <span role="status" className={classes.live}>
      {status !== "live" && isLate && (
        <>
          Reconnecting…<span className={classes.wide}> showing the last known state</span>
        </>
      )}
    </span>
  );
}

const CHOICES: { scheme: MantineColorScheme; name: string; Icon: typeof IconSun }[] = [
  { scheme: "auto", name: "System", Icon: IconDeviceDesktop },
  { scheme: "light", name: "Light", Icon: IconSun },
  { scheme: "dark", name: "Dark", Icon: IconMoon },
];

/** Menu of the theme, with the settings and the examples where no account has them in its menu. */
function ThemeSwitch({ hasSettings }: { hasSettings: boolean }) {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const { Icon } = CHOICES.find(({ scheme }) => scheme === colorScheme) ?? { Icon: IconDeviceDesktop };
  return (
    <Menu>
      <Menu.Target>
        <Tooltip label={hasSettings ? "Theme, settings and examples" : "Theme"}>
          <ActionIcon size={32} aria-label="Theme">
            <Icon size={18} stroke={1.75} />
          </ActionIcon>
        </Tooltip>
      </Menu.Target>
      <Menu.Dropdown>
        {CHOICES.map(({ scheme, name, Icon: Sign }) => (
          <Menu.Item
            key={scheme}
            leftSection={<Sign size={16} />}
            rightSection={scheme === colorScheme && <IconCheck size={16} aria-label="chosen" />}
            onClick={() => setColorScheme(scheme)}
          >
            {name}
          </Menu.Item>
        ))}
        {hasSettings && (
          <>
            <Menu.Divider />
            <Menu.Item component={Link} to="/settings" leftSection={<IconSettings size={16} />}>
              Settings
            </Menu.Item>
            <Menu.Item component={Link} to="/examples" leftSection={<IconSparkles size={16} />}>
              Examples
            </Menu.Item>
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}

const MY_RUNS = `/?filter=${encodeURIComponent("person = me")}`;

/** Menu of the signed-in person, with the settings and the sign-out. */
function AccountMenu() {
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
function AccountItems() {
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
