import "@mantine/spotlight/styles.css";
import { useDebouncedValue } from "@mantine/hooks";
import {
  Spotlight,
  spotlight,
  type SpotlightActionData,
  type SpotlightActionGroupData,
} from "@mantine/spotlight";
import { IconSearch } from "@tabler/icons-react";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { type KeyboardEvent, useEffect, useState } from "react";
import { useNavigate } from "react-router";
import { projectsQuery, useMayWrite } from "@/api/projects";
import { runListQuery } from "@/api/runs";
import { useChooseProject } from "@/ui/currentProject";
import { stateName } from "@/ui/states";
import { Thumbnail } from "@/ui/Thumbnail";
import { PAGES } from "./Header";

const SEARCH_DELAY_MS = 200;
const MOST_RUNS = 8;

/** Opens a page, a run or a project by a few letters. It is open at first. Ctrl-K opens it again, also while typing. */
export function CommandPalette({ onShortcuts, onTour }: { onShortcuts: () => void; onTour: () => void }) {
  const navigate = useNavigate();
  const chooseProject = useChooseProject();
  const mayWrite = useMayWrite();
  const [isOpen, setOpen] = useState(false);
  useEffect(() => spotlight.open(), []);
  const [typed, setTyped] = useState("");
  const [text] = useDebouncedValue(typed.trim(), SEARCH_DELAY_MS);
  const runs = useInfiniteQuery({ ...runListQuery({ text, sort: "-created_at" }), enabled: isOpen });
  const projects = useQuery({ ...projectsQuery, enabled: isOpen });

  const matches = (action: SpotlightActionData) =>
    `${action.label} ${action.description ?? ""}`.toLowerCase().includes(typed.trim().toLowerCase());
  const pages: SpotlightActionData[] = [
    ...[
      ...PAGES,
      ...(mayWrite ? [{ to: "/launch", name: "Launch run" }] : []),
      { to: "/examples", name: "Open examples" },
      { to: "/alerts", name: "Alerts" },
      { to: "/aliases", name: "Aliases" },
      { to: "/usage", name: "Usage" },
      { to: "/settings", name: "Settings" },
    ].map(({ to, name }) => ({ id: `page ${to}`, label: name, onClick: () => void navigate(to) })),
    { id: "tour", label: "Tour of the pages", onClick: onTour },
    { id: "shortcuts", label: "Keyboard shortcuts", onClick: onShortcuts },
  ];
  const found: SpotlightActionData[] = (runs.data?.pages[0]?.items ?? []).slice(0, MOST_RUNS).map((run) => ({
    id: `run ${run.id}`,
    label: run.name,
    description: `Run ${run.id}, ${stateName(run).toLowerCase()}`,
    leftSection: <Thumbnail fileId={run.poster_file_id} size={32} alt="" />,
    onClick: () => void navigate(`/runs/${run.id}`),
  }));
  const switches: SpotlightActionData[] = (projects.data ?? []).map(({ id, name }) => ({
    id: `project ${id}`,
    label: name,
    description: "Show only this project",
    onClick: () => chooseProject(name),
  }));
  const groups: SpotlightActionGroupData[] = [
    { group: "Pages", actions: pages.filter(matches) },
    // The server has searched more than the name.
    { group: "Runs", actions: found },
    { group: "Projects", actions: switches.filter(matches) },
  ].filter(({ actions }) => actions.length > 0);

  return (
    <Spotlight
      actions={groups}
      filter={(_query, actions) => actions}
      query={typed}
      onQueryChange={setTyped}
      onSpotlightOpen={() => setOpen(true)}
      onSpotlightClose={() => setOpen(false)}
      shortcut="mod + K"
      tagsToIgnore={[]}
      scrollable
      maxHeight={440}
      nothingFound={runs.isFetching ? "Searching…" : "Nothing found"}
      searchProps={{
        leftSection: <IconSearch size={18} aria-hidden />,
        placeholder: "Open a page, a run or a project",
        "aria-label": "Open a page, a run or a project",
        onKeyDown: clickFirst,
      }}
    />
  );
}

/** Let Enter choose the first result. The library selects none when results arrive later. */
function clickFirst({ key, currentTarget }: KeyboardEvent<HTMLInputElement>): void {
  const dialog = currentTarget.closest("[role=dialog]");
  if (key === "Enter" && !dialog?.querySelector("[data-action][data-selected]"))
    dialog?.querySelector<HTMLElement>("[data-action]")?.click();
}
