import {
  createBrowserRouter,
  type LoaderFunctionArgs,
  matchRoutes,
  redirect,
  replace,
  type RouteObject,
} from "react-router";
import { importPage } from "@/ui/loadCode";
import { Connecting } from "./Connecting";
import { ErrorPage } from "./ErrorPage";
import { Shell } from "./Shell";

type LoadPage = () => Promise<{ default: React.ComponentType }>;

const page = (load: LoadPage) => {
  const lazy = async () => ({
    // The source code of the import names its file, so each page gets its own reload.
    Component: (await importPage(String(load), load)).default,
  });
  return Object.assign(lazy, { load });
};

/** Load the code of a page as soon as the pointer or the focus is on a link to it. */
export function preloadLinkedPages(pages: RouteObject[] = routes): void {
  const preload = ({ target }: Event) => {
    const link = target instanceof Element ? target.closest("a") : null;
    if (link?.origin !== window.location.origin) return;
    const lazy = matchRoutes(pages, link.pathname)?.at(-1)?.route.lazy;
    // An error is shown when the link is followed.
    if (lazy && "load" in lazy) (lazy as ReturnType<typeof page>).load().catch(() => undefined);
  };
  for (const kind of ["pointerover", "focusin"]) document.addEventListener(kind, preload, { passive: true });
}

/** Redirect the old address of the study form: /studies/new, with ?from=3 for a clone. */
function redirectToStudyForm({ request }: LoaderFunctionArgs) {
  const from = new URL(request.url).searchParams.get("from");
  return redirect(`/launch?study=${encodeURIComponent(from ?? "new")}`);
}

/** Return a route to another page. The query string and the rest of a path with a star are kept. */
function forward(path: string, to: string): RouteObject {
  return {
    path,
    // Without an element, React Router warns while it redirects.
    element: null,
    loader: ({ request, params }: LoaderFunctionArgs) =>
      replace([to, params["*"]].filter(Boolean).join("/") + new URL(request.url).search),
  };
}

/** Addresses that people type, and the pages that they mean. */
const FORWARDED: RouteObject[] = [
  forward("runs", "/"),
  forward("index.html", "/"),
  forward("run/*", "/runs"),
  forward("comparison", "/compare"),
  forward("study/*", "/studies"),
  forward("paper/*", "/papers"),
  forward("report/*", "/reports"),
  forward("project/*", "/projects"),
  forward("game/*", "/games"),
  forward("alert/*", "/alerts"),
  forward("alias", "/aliases"),
  forward("worker", "/workers"),
  forward("account", "/settings"),
  forward("people", "/settings/people"),
];

export const routes: RouteObject[] = [
  {
    // Outside the shell, because its readers cannot sign in.
    path: "shared/reports/:token",
    lazy: page(() => import("@/pages/reports/SharedReportPage")),
    ErrorBoundary: ErrorPage,
    HydrateFallback: Connecting,
  },
  {
    // Outside the shell, because the person has no password yet.
    path: "welcome",
    lazy: page(() => import("@/pages/welcome/WelcomePage")),
    ErrorBoundary: ErrorPage,
    HydrateFallback: Connecting,
  },
  {
    // Outside the shell, because other sites frame these pages.
    path: "embed/:project?/:panel?",
    lazy: page(() => import("@/pages/embed/EmbedPage")),
    ErrorBoundary: ErrorPage,
    HydrateFallback: Connecting,
  },
  {
    Component: Shell,
    ErrorBoundary: ErrorPage,
    HydrateFallback: Connecting,
    children: [
      {
        // Inside the shell, so that the navigation stays when a page fails.
        ErrorBoundary: ErrorPage,
        children: [
          { index: true, lazy: page(() => import("@/pages/runs/RunsPage")) },
          { path: "launch", lazy: page(() => import("@/pages/launch/LaunchPage")) },
          { path: "runs/:id/:tab?/:item?", lazy: page(() => import("@/pages/run/RunPage")) },
          { path: "compare", lazy: page(() => import("@/pages/compare/ComparePage")) },
          { path: "studies", lazy: page(() => import("@/pages/studies/StudiesPage")) },
          { path: "studies/new", element: null, loader: redirectToStudyForm },
          { path: "studies/:id", lazy: page(() => import("@/pages/studies/StudyPage")) },
          { path: "papers", lazy: page(() => import("@/pages/papers/PapersPage")) },
          { path: "papers/:paper", lazy: page(() => import("@/pages/papers/PaperPage")) },
          { path: "papers/:paper/:item", lazy: page(() => import("@/pages/papers/ItemPage")) },
          { path: "reports", lazy: page(() => import("@/pages/reports/ReportsPage")) },
          { path: "reports/:id", lazy: page(() => import("@/pages/reports/ReportPage")) },
          { path: "projects", lazy: page(() => import("@/pages/projects/ProjectsPage")) },
          { path: "projects/:name", lazy: page(() => import("@/pages/projects/ProjectPage")) },
          { path: "projects/:name/board", lazy: page(() => import("@/pages/board/BoardPage")) },
          { path: "games", lazy: page(() => import("@/pages/games/GamesPage")) },
          { path: "games/:slug", lazy: page(() => import("@/pages/games/GamePage")) },
          { path: "games/:slug/play/:id?", lazy: page(() => import("@/pages/play/PlayPage")) },
          { path: "replays/:replay/play/:id?", lazy: page(() => import("@/pages/play/ReplayPlayPage")) },
          { path: "alerts/:tab?", lazy: page(() => import("@/pages/alerts/AlertsPage")) },
          { path: "artifacts", lazy: page(() => import("@/pages/artifacts/ArtifactsPage")) },
          { path: "artifacts/:id/:version?", lazy: page(() => import("@/pages/artifacts/ArtifactPage")) },
          { path: "aliases", lazy: page(() => import("@/pages/aliases/AliasesPage")) },
          { path: "settings/:tab?", lazy: page(() => import("@/pages/settings/SettingsPage")) },
          { path: "device", lazy: page(() => import("@/pages/device/DevicePage")) },
          { path: "signed-in-again", lazy: page(() => import("@/pages/device/SignedInAgainPage")) },
          { path: "examples", lazy: page(() => import("@/pages/examples/ExamplesPage")) },
          { path: "wall", lazy: page(() => import("@/pages/wall/WallPage")) },
          { path: "workers", lazy: page(() => import("@/pages/workers/WorkersPage")) },
          { path: "usage", lazy: page(() => import("@/pages/usage/UsagePage")) },
          ...FORWARDED,
          { path: "*", lazy: page(() => import("./NotFoundPage")) },
        ],
      },
    ],
  },
];

export const createRouter = () => createBrowserRouter(routes);
