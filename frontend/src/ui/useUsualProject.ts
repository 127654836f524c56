import { useQuery } from "@tanstack/react-query";
import { isSameProject, MAIN_PROJECT, projectsQuery } from "@/api/projects";
import { useCurrentProject } from "./currentProject";

/** Return the project for new things: the current one, Main, or the first that the caller may edit. */
export function useUsualProject(): string {
  const current = useCurrentProject();
  const { data = [] } = useQuery(projectsQuery);
  const offered = data.filter(({ may_edit }) => may_edit).map(({ name }) => name);
  const wanted = [current ?? MAIN_PROJECT, MAIN_PROJECT];
  const found = wanted.map((name) => offered.find((each) => isSameProject(each, name)));
  return found.find((name) => name !== undefined) ?? offered[0] ?? current ?? MAIN_PROJECT;
}
