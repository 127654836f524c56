import { MultiSelect } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { runSettingsQuery } from "@/api/runs";
import classes from "./runs.module.css";
import { type RunsView, toFailuresQuery } from "./view";

export interface GroupByProps {
  view: RunsView;
  project: string | null;
  onChange: (by: string[]) => void;
}

/** Fields that every run has. */
const FIELDS = [
  { value: "method", label: "Method" },
  { value: "env", label: "Environment" },
  { value: "state", label: "State" },
  { value: "project", label: "Project" },
  { value: "study", label: "Study" },
];
const MOST_FIELDS = 4;

interface GroupFieldsProps extends GroupByProps {
  /** True if a click on its placeholder has opened it. */
  isOpenedAtFirst: boolean;
}

/** Choice of the fields that the runs are grouped by. It offers the settings that differ between the listed runs. */
export function GroupFields({ view, project, onChange, isOpenedAtFirst }: GroupFieldsProps) {
  const [isOpened, setOpened] = useState(isOpenedAtFirst);
  const needsTitles = view.by.some((name) => FIELDS.every(({ value }) => value !== name));
  const { data } = useQuery({
    ...runSettingsQuery(toFailuresQuery(view, project)),
    enabled: isOpened || needsTitles,
  });
  const settings = (data?.settings ?? []).map(({ name, title }) => ({ value: name, label: title }));
  const known = new Map([...FIELDS, ...settings].map((field) => [field.value, field]));
  const chosen = view.by.filter((name) => !known.has(name)).map((name) => ({ value: name, label: name }));
  return (
    <MultiSelect
      size="xs"
      aria-label="Group runs by"
      placeholder={view.by.length === 0 ? "Group by" : undefined}
      data={[...known.values(), ...chosen]}
      value={[...view.by]}
      onChange={onChange}
      maxValues={MOST_FIELDS}
      defaultDropdownOpened={isOpenedAtFirst}
      autoFocus={isOpenedAtFirst}
      onDropdownOpen={() => setOpened(true)}
      searchable
      clearable
      hidePickedOptions
      classNames={{ inputField: classes.groupBy }}
      miw={130}
      maw={480}
    />
  );
}
