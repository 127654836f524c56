import { Checkbox } from "@mantine/core";
import { plural, short, toSentence } from "./format";

interface ConfirmCostProps {
  cost: { runs: number; steps: number; confirm: string | null };
  confirmed: boolean;
  onChange: (confirmed: boolean) => void;
}

/** Checkbox that confirms an unknown or large cost. Empty if no confirmation is required. */
export function ConfirmCost({ cost, confirmed, onChange }: ConfirmCostProps) {
  if (!cost.confirm) return null;
  return (
    <Checkbox
      size="sm"
      checked={confirmed}
      onChange={({ currentTarget }) => onChange(currentTarget.checked)}
      label={`Start ${short(cost.steps, "steps")} in ${plural(cost.runs, "run")}`}
      description={toSentence(cost.confirm)}
    />
  );
}
