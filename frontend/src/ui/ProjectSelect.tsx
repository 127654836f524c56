import { Select, type SelectProps } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { projectsQuery } from "@/api/projects";

interface ProjectSelectProps extends Omit<SelectProps, "data" | "value" | "onChange"> {
  value: string | null;
  onChange: (name: string) => void;
  /** Name of a project that is not offered. */
  without?: string | null;
}

/** Field for an existing project that the caller may edit. */
export function ProjectSelect({ value, onChange, without = null, ...props }: ProjectSelectProps) {
  const { data: projects } = useQuery(projectsQuery);
  const names = (projects ?? [])
    .filter(({ name, may_edit }) => may_edit && name !== without)
    .map(({ name }) => name);
  // The projects may not be loaded yet.
  const offered = value === null || names.includes(value) ? names : [value, ...names];
  return (
    <Select
      {...props}
      data={offered}
      value={value}
      allowDeselect={false}
      searchable
      nothingFoundMessage="No such project"
      onChange={(name) => name !== null && onChange(name)}
    />
  );
}
