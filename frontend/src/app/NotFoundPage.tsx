import { Anchor, Button, Group, Stack, Text } from "@mantine/core";
import { Link, useLocation } from "react-router";
import { useMayWrite } from "@/api/projects";
import { EmptyState } from "@/ui/EmptyState";
import { usePageTitle } from "@/ui/usePageTitle";
import { PAGES } from "./Header";
import classes from "./Shell.module.css";

const OTHER_PAGES = [
  { to: "/projects", name: "Projects" },
  { to: "/alerts", name: "Alerts" },
  { to: "/aliases", name: "Aliases" },
  { to: "/usage", name: "Usage" },
];
const LAUNCH = { to: "/launch", name: "Launch a run" };

/** Where to find things that have no page of their own. */
const PLACES: Record<string, string> = {
  replays: "Replays are in the tab “Replays” of their run.",
  checkpoints: "Checkpoints are in the tab “Checkpoints” of their run.",
  evaluations: "Evaluations are in the tab “Evaluations” of their run. Games rank them.",
  logs: "The log is in the tab “Log” of its run.",
  live: "To watch an agent live, open its run and choose “Live”.",
  board: "Each project has a board. Open the project first.",
};

/** Return where to find the things that the first part of an address names: /replays/7 or /checkpoint. */
function placeOf(pathname: string): string | undefined {
  const [, noun = ""] = pathname.toLowerCase().split("/");
  return PLACES[noun] ?? PLACES[`${noun}s`] ?? PLACES[noun.replace(/s$/, "")];
}

/** Page of an unknown address, with links to all pages. */
export default function NotFoundPage() {
  usePageTitle("Page not found");
  const { pathname } = useLocation();
  const pages = [...PAGES.slice(1), ...OTHER_PAGES, ...(useMayWrite() ? [LAUNCH] : [])];
  const place = placeOf(pathname);
  return (
    <EmptyState title="Page not found" alone>
      <Stack align="center" gap="md">
        <span className={classes.address}>Arcadia has no page at {pathname}.</span>
        {place && <span>{place}</span>}
        <Button component={Link} to="/" variant="default">
          Go to runs
        </Button>
        <Group component="nav" aria-label="All pages" gap="4px 16px" justify="center">
          {pages.map(({ to, name }) => (
            <Anchor key={to} component={Link} to={to} size="sm" py={4}>
              {name}
            </Anchor>
          ))}
        </Group>
        <Text size="sm">Press / or Ctrl K to search for a run.</Text>
      </Stack>
    </EmptyState>
  );
}
