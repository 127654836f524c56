import { ActionIcon, Burger, Button, Menu, Tooltip } from "@mantine/core";
import { IconKeyboard, IconPlus } from "@tabler/icons-react";
import { Link, NavLink } from "react-router";
import { AccountItems, AccountMenu } from "./AccountMenu";
import { AlertBell } from "./AlertBell";
import { ConnectionStatus } from "./ConnectionStatus";
import { ProjectSwitcher } from "./ProjectSwitcher";
import classes from "./Shell.module.css";
import { ThemeSwitch } from "./ThemeSwitch";
import { useMayWrite } from "@/api/projects";

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
