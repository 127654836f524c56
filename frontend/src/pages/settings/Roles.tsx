import { Anchor, Text } from "@mantine/core";
import { Link } from "react-router";
import type { Person } from "@/api/types";
import { projectAddress } from "@/ui/currentProject";

/** The projects of a person, with the role in each, and the group that it comes from. */
export function Roles({ roles }: { roles: Person["roles"] }) {
  return roles.map(({ project_id, project, role, group }) => (
    <Text key={`${project_id} ${group ?? ""}`} size="sm" component="div">
      {role} of{" "}
      <Anchor component={Link} to={projectAddress(project)} inherit>
        {project}
      </Anchor>
      {group !== null && ` by group ${group}`}
    </Text>
  ));
}
