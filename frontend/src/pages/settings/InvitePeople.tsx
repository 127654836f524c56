import { Checkbox, NativeSelect } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useInvite } from "@/api/people";
import { projectsQuery } from "@/api/projects";
import type { Invitation, RoleName } from "@/api/types";
import { InviteDialog } from "@/ui/InviteDialog";

const ROLES: { value: RoleName; label: string }[] = [
  { value: "viewer", label: "Viewer: sees everything" },
  { value: "editor", label: "Editor: launches and changes" },
  { value: "administrator", label: "Administrator: chooses members" },
];

interface InvitePeopleProps {
  onInvited: (invitations: Invitation[]) => void;
  onClose: () => void;
}

/** Dialog to invite people, with their first role. */
export function InvitePeople({ onInvited, onClose }: InvitePeopleProps) {
  const projects = useQuery(projectsQuery).data ?? [];
  const { mutate, error, isPending } = useInvite();
  const [project, setProject] = useState("");
  const [role, setRole] = useState<RoleName>("editor");
  const [isAdministrator, setAdministrator] = useState(false);
  const hasProject = project !== "" && !isAdministrator;
  return (
    <InviteDialog
      error={error}
      isPending={isPending}
      onClose={onClose}
      onSubmit={(people) =>
        mutate(
          { people, is_administrator: isAdministrator, role, ...(hasProject && { project }) },
          { onSuccess: onInvited },
        )
      }
    >
      <Checkbox
        label="Administrator of the installation"
        description="Sees and changes everything, and invites people."
        checked={isAdministrator}
        onChange={(event) => setAdministrator(event.currentTarget.checked)}
      />
      {!isAdministrator && (
        <NativeSelect
          label="Project"
          value={project}
          onChange={(event) => setProject(event.currentTarget.value)}
          data={[{ value: "", label: "None yet" }, ...projects.map((each) => each.name)]}
        />
      )}
      {hasProject && (
        <NativeSelect
          label="Role"
          value={role}
          onChange={(event) => setRole(event.currentTarget.value as RoleName)}
          data={ROLES}
        />
      )}
    </InviteDialog>
  );
}
