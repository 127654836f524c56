import { Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { executorsQuery } from "@/api/executors";
import type { ExecutorName } from "@/api/types";

interface ExecutorSelectProps {
  id?: string;
  label: string;
  description: string;
  value: ExecutorName | null;
  /** The choice that stands for null, such as "Default of the project". Without it, a place must be chosen. */
  unset?: string;
  error?: string | undefined;
  disabled?: boolean;
  onChange: (name: ExecutorName | null) => void;
}

const UNSET = "default";

/** Choice of where runs train. It is shown only if a scheduler is set up. */
export function ExecutorSelect({ value, unset, onChange, ...others }: ExecutorSelectProps) {
  const { data: executors = [] } = useQuery(executorsQuery);
  if (executors.length < 2) return null;
  return (
    <Select
      {...others}
      data={[
        ...(unset === undefined ? [] : [{ value: UNSET, label: unset }]),
        ...executors.map(({ name, title }) => ({ value: name, label: title })),
      ]}
      allowDeselect={false}
      value={value ?? UNSET}
      onChange={(name) => name !== null && onChange(name === UNSET ? null : (name as ExecutorName))}
    />
  );
}
