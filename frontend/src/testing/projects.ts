import type { Project, ProjectSummary } from "@/api/types";

/** A project in the list. Its id depends on its name. */
export function aProjectSummary(name: string, changes: Partial<ProjectSummary> = {}): ProjectSummary {
  return {
    id: name === "Main" ? 1 : 2,
    name,
    runs: 0,
    active_runs: 0,
    archived_runs: 0,
    studies: 0,
    artifacts: 0,
    reports: 0,
    may_edit: true,
    may_administer: true,
    created_at: "2026-05-01T10:00:00Z",
    last_activity: "2026-05-01T10:00:00Z",
    ...changes,
  };
}

/** A project with the content of its page. */
export function aProject(name: string, changes: Partial<Project> = {}): Project {
  return {
    ...aProjectSummary(name),
    text: "",
    executor: null,
    pinned_report: null,
    best_agents: [],
    ...changes,
  };
}
