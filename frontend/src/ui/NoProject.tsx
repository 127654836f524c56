import { Anchor } from "@mantine/core";
import { Link } from "react-router";
import { EmptyState } from "./EmptyState";

/** Page of a project that does not exist. */
export function NoProject({ name }: { name: string }) {
  return (
    <EmptyState alone title={`There is no project “${name}”`}>
      It may have been renamed, merged or deleted, or you have no role in it.{" "}
      <Anchor component={Link} to="/projects" inherit>
        Show all projects
      </Anchor>
    </EmptyState>
  );
}
