import { readLocalStorageValue, useLocalStorage } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { matchPath, useLocation, useNavigate, useSearchParams } from "react-router";
import { isSameProject, MAIN_PROJECT, projectsQuery } from "@/api/projects";

/** URL parameter with the name of the current project. It is empty for all projects. */
export const PROJECT_PARAM = "project";
const STORAGE_KEY = "arcadia-project";

/** Pages that show only the current project. Their URL has its name, so that a link shows the same to others. */
const FOLLOWING_PAGES = [
  "/",
  "/launch",
  "/studies",
  "/reports",
  "/artifacts",
  "/games",
  "/games/:slug",
  "/wall",
];
const PROJECT_PAGES = "/projects/:name/:tab?";

/** Address of a project's page. */
export const projectAddress = (name: string) => `/projects/${encodeURIComponent(name)}`;

/** Address of a project's board. */
export const boardAddress = (name: string) => `${projectAddress(name)}/board`;

/** Return the address of a page that shows a project, or all projects. */
export const inProject = (path: string, name: string | null) =>
  `${path}?${new URLSearchParams({ [PROJECT_PARAM]: name ?? "" }).toString()}`;

/** The project that this browser showed last: a name, "" for all projects, or null without a choice. */
function useRememberedProject() {
  return useLocalStorage<string | null>({
    key: STORAGE_KEY,
    defaultValue: null,
    getInitialValueInEffect: false,
  });
}

/** Return the project of the run list at an address, before the page is shown. */
export function projectOfRunList(params: URLSearchParams): string | null {
  return (params.get(PROJECT_PARAM) ?? readLocalStorageValue<string | null>({ key: STORAGE_KEY })) || null;
}

/** Return the name of the current project, or null for all projects. */
export function useCurrentProject(): string | null {
  const { pathname } = useLocation();
  const [params] = useSearchParams();
  const [remembered] = useRememberedProject();
  return (projectOfPage(pathname) ?? params.get(PROJECT_PARAM) ?? remembered) || null;
}

/** Return the project for new things: the current one, Main, or the first that the caller may edit. */
export function useUsualProject(): string {
  const current = useCurrentProject();
  const { data = [] } = useQuery(projectsQuery);
  const offered = data.filter(({ may_edit }) => may_edit).map(({ name }) => name);
  const wanted = [current ?? MAIN_PROJECT, MAIN_PROJECT];
  const found = wanted.map((name) => offered.find((each) => isSameProject(each, name)));
  return found.find((name) => name !== undefined) ?? offered[0] ?? current ?? MAIN_PROJECT;
}

/** Return a function that chooses the current project. It opens the runs if the page does not show projects. */
export function useChooseProject(): (name: string | null) => void {
  const { pathname } = useLocation();
  const navigate = useNavigate();
  const [, setParams] = useSearchParams();
  const [, remember] = useRememberedProject();
  return (name) => {
    remember(name ?? "");
    if (projectOfPage(pathname) !== null && name !== null) void navigate(projectAddress(name));
    else if (isFollowing(pathname)) setParams(withProject(name ?? ""));
    else void navigate(inProject("/", name));
  };
}

/** Return a function that replaces the remembered project after it was renamed, merged or deleted. */
export function useForgetProject(): (name: string, replacement: string | null) => void {
  const [remembered, remember] = useRememberedProject();
  return (name, replacement) => {
    if (remembered && isSameProject(remembered, name)) remember(replacement ?? "");
  };
}

/**
 * Keep the URL and the browser's memory of the current project the same. The URL wins. A project's own page does not
 * change what other pages show.
 */
export function useProjectInUrl(): void {
  const { pathname } = useLocation();
  const [params, setParams] = useSearchParams();
  const [remembered, remember] = useRememberedProject();
  const follows = isFollowing(pathname);
  const shown = follows ? params.get(PROJECT_PARAM) : null;
  useEffect(() => {
    if (shown !== null && shown !== remembered) remember(shown);
    if (shown === null && follows && remembered !== null)
      setParams(withProject(remembered), { replace: true });
  }, [shown, follows, remembered, remember, setParams]);
}

/** Return true if the page shows only the current project. */
export const useShowsProject = (): boolean => isFollowing(useLocation().pathname);

const withProject = (name: string) => (params: URLSearchParams) => {
  params.set(PROJECT_PARAM, name);
  return params;
};

const isFollowing = (pathname: string) => FOLLOWING_PAGES.some((page) => matchPath(page, pathname) !== null);

/** Return the project whose page this is, or null. */
function projectOfPage(pathname: string): string | null {
  const name = matchPath(PROJECT_PAGES, pathname)?.params.name;
  if (name === undefined) return null;
  try {
    return decodeURIComponent(name);
  } catch {
    // A malformed address.
    return name;
  }
}
