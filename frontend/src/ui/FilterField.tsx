import { ExpressionField } from "./ExpressionField";

interface FilterFieldProps {
  /** Filter in the URL. */
  filter: string;
  onFilter: (filter: string) => void;
}

/** Field for the filter of the run table. */
export function FilterField({ filter, onFilter }: FilterFieldProps) {
  return (
    <ExpressionField
      kind="condition"
      label="Filter expression"
      placeholder="learning_rate < 1e-3 and return > 15"
      value={filter}
      onApply={onFilter}
      appliesOnBlur
    />
  );
}
