import { useHotkeys } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useCallback, useState } from "react";
import { Outlet, useLocation, useNavigate } from "react-router";
import { LiveProvider } from "@/api/live/LiveProvider";
import { useMayWrite } from "@/api/projects";
import { accountQuery, sessionQuery } from "@/api/session";
import { Connecting } from "./Connecting";
import { Header } from "./Header";
import { UnknownProject } from "./ProjectSwitcher";
import classes from "./Shell.module.css";
import { UnsentActions } from "@/run-actions/UnsentActions";
import { lazyPart } from "@/ui/lazyPart";
import { FROM_KEYBOARD, useShortcuts, type Shortcut } from "@/ui/shortcuts";
import { TourContext } from "@/ui/tour";
import { useScrollRestoration } from "./useScrollRestoration";

const CommandPalette = lazyPart(() => import("./CommandPalette").then((module) => module.CommandPalette));
const ShortcutSheet = lazyPart(() => import("./ShortcutSheet").then((module) => module.ShortcutSheet));
const NoRolePage = lazyPart(() => import("./NoRolePage").then((module) => module.NoRolePage));
const SignInPage = lazyPart(() => import("./SignInPage").then((module) => module.SignInPage));
const Tour = lazyPart(() => import("./Tour").then((module) => module.Tour));

const MAIN_ID = "content";

/** Header, shortcuts and live connection of every page, or the sign-in page if a token is required. */
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
  const [sheetOpened, setSheetOpened] = useState(false);
  const [tourStop, setTourStop] = useState(0);
  const startTour = useCallback(() => setTourStop(1), []);
  const shortcuts = usePageShortcuts(() => setSheetOpened(true));
  useShortcuts(shortcuts);
  const [isPaletteWanted, setPaletteWanted] = useState(false);
  // The palette handles its key itself after its code is loaded.
  useHotkeys([["mod + K", () => setPaletteWanted(true)]], []);
  useScrollRestoration();
  return (
    <>
      <a href={`#${MAIN_ID}`} className={classes.skip}>
        Skip to content
      </a>
      <header className={classes.bar}>
        <Header canSignOut={canSignOut} onShortcuts={() => setSheetOpened(true)} />
      </header>
      <main id={MAIN_ID} tabIndex={-1} className={classes.main}>
        <UnsentActions />
        <UnknownProject />
        <TourContext value={startTour}>
          <Pages hasAccounts={canSignOut} />
        </TourContext>
      </main>
      {isPaletteWanted && <CommandPalette onShortcuts={() => setSheetOpened(true)} onTour={startTour} />}
      {tourStop > 0 && <Tour number={tourStop} onChange={setTourStop} />}
      <ShortcutSheet opened={sheetOpened} shortcuts={shortcuts} onClose={() => setSheetOpened(false)} />
    </>
  );
}

/** Pages that need no role in a project. */
const OWN_PAGES = /^\/(settings|device)(\/|$)/;

/** The page of the address, or why a person without a role does not see it. */
function Pages({ hasAccounts }: { hasAccounts: boolean }) {
  const { pathname } = useLocation();
  const [hadRole, setHadRole] = useState(false);
  const account = useQuery({ ...accountQuery, enabled: hasAccounts });
  const hasRole = account.data?.has_role ?? true;
  if (hasAccounts && account.isPending) return null;
  if (account.data?.has_role && !hadRole) setHadRole(true);
  return hasRole || OWN_PAGES.test(pathname) ? <Outlet /> : <NoRolePage hadRole={hadRole} />;
}

function usePageShortcuts(openSheet: () => void): Shortcut[] {
  const navigate = useNavigate();
  const mayWrite = useMayWrite();
  const go = (to: string) => () => void navigate(to);
  const launch = () => void navigate("/launch", { state: FROM_KEYBOARD });
  return [
    { keys: "g r", does: "Go to runs", run: go("/") },
    { keys: "g c", does: "Compare runs", run: go("/compare") },
    { keys: "g g", does: "Go to games", run: go("/games") },
    { keys: "g a", does: "Go to alerts", run: go("/alerts") },
    { keys: "g w", does: "Go to workers", run: go("/workers") },
    ...(mayWrite ? [{ keys: "n", does: "Launch a run", run: launch }] : []),
    { keys: "/", does: "Search", run: () => focusSearch(go("/")) },
    { keys: "?", does: "Show shortcuts", run: openSheet },
  ];
}

function focusSearch(openRunList: () => void): void {
  const field = document.querySelector<HTMLInputElement>("input[type=search]");
  if (field) field.focus();
  else openRunList();
}
