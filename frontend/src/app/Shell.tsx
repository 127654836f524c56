import { AppShell } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Outlet, useNavigate } from "react-router";
import { LiveProvider } from "@/api/live/LiveProvider";
import { sessionQuery } from "@/api/session";
import { Connecting } from "./Connecting";
import { Header } from "./Header";
import classes from "./Shell.module.css";
import { ShortcutSheet } from "./ShortcutSheet";
import { UnsentActions } from "@/run-actions/UnsentActions";
import { useShortcuts, type Shortcut } from "@/ui/shortcuts";
import { SignInPage } from "./SignInPage";
import { useScrollPlaces } from "./useScrollPlaces";

const MAIN = "content";

/** What the table of runs listens to itself. */
const TABLE_KEYS = [
  { keys: "j", does: "In the runs: the next one" },
  { keys: "k", does: "In the runs: the one before" },
  { keys: "x", does: "In the runs: select this one" },
  { keys: "Enter", does: "In the runs: open this one" },
];

/** What the replays of a run listen to themselves. */
const REPLAY_KEYS = [
  { keys: "Space", does: "In a replay: play or pause" },
  { keys: ", .", does: "In a replay: the frame before, the next one" },
  { keys: "[ ]", does: "In a replay: the decision before, the next one" },
];

/** Header, keyboard and live stream around every page; the sign-in page where a token is asked for. */
export function Shell() {
  const session = useQuery(sessionQuery);
  if (session.isPending) return <Connecting />;
  if (session.data?.required && !session.data.signed_in) return <SignInPage />;
  return (
    <LiveProvider>
      <Frame canSignOut={session.data?.required ?? false} />
    </LiveProvider>
  );
}

function Frame({ canSignOut }: { canSignOut: boolean }) {
  const [sheet, setSheet] = useState(false);
  const shortcuts = usePageShortcuts(() => setSheet(true));
  useShortcuts(shortcuts);
  useScrollPlaces();
  return (
    <AppShell header={{ height: 56 }} padding={0}>
      <a href={`#${MAIN}`} className={classes.skip}>
        Skip to the content
      </a>
      <AppShell.Header className={classes.bar}>
        <Header canSignOut={canSignOut} onShortcuts={() => setSheet(true)} />
      </AppShell.Header>
      <AppShell.Main id={MAIN} tabIndex={-1} className={classes.main}>
        <UnsentActions />
        <Outlet />
      </AppShell.Main>
      <ShortcutSheet
        opened={sheet}
        shortcuts={[...shortcuts, ...TABLE_KEYS, ...REPLAY_KEYS]}
        onClose={() => setSheet(false)}
      />
    </AppShell>
  );
}

function usePageShortcuts(openSheet: () => void): Shortcut[] {
  const navigate = useNavigate();
  const go = (to: string) => () => void navigate(to);
  return [
    { keys: "g r", does: "Go to the runs", run: go("/") },
    { keys: "g c", does: "Go to the comparison", run: go("/compare") },
    { keys: "g g", does: "Go to the games", run: go("/games") },
    { keys: "g w", does: "Go to the workers", run: go("/workers") },
    { keys: "n", does: "Launch a new run", run: go("/launch") },
    { keys: "/", does: "Search", run: () => focusSearch(go("/")) },
    { keys: "?", does: "Show this sheet", run: openSheet },
  ];
}

function focusSearch(elsewhere: () => void): void {
  const field = document.querySelector<HTMLInputElement>("input[type=search]");
  if (field) field.focus();
  else elsewhere();
}
