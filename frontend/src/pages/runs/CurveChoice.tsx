import { Menu, UnstyledButton } from "@mantine/core";
import { IconEye, IconEyeOff, IconPin, IconPinFilled, IconScale, IconX } from "@tabler/icons-react";
import { createContext, use } from "react";
import type { ListedRun } from "@/api/types";
import { hint } from "@/ui/Hint";
import { RunDot } from "@/ui/RunDot";
import classes from "./CurveChoice.module.css";

interface CurveChoice {
  /** The runs with curves, or null if the charts are closed. */
  drawn: readonly number[] | null;
  pinned: readonly number[];
  /** The run that others are compared with. */
  baseline: ListedRun | null;
  toggle: (run: number) => void;
  togglePin: (run: number) => void;
  setBaseline: (run: number | null) => void;
}

/** The choice of curves, pins and the baseline on the runs page. Null if it does not list single runs. */
export const CurveChoiceContext = createContext<CurveChoice | null>(null);

/** Dot in the run's color. Beside open charts, it shows or hides the run's curve. */
export function CurveDot({ run }: { run: ListedRun }) {
  const choice = use(CurveChoiceContext);
  if (!choice?.drawn) return <RunDot run={run} />;
  const isDrawn = choice.drawn.includes(run.id);
  const Eye = isDrawn ? IconEyeOff : IconEye;
  return (
    <button
      type="button"
      className={classes.dot}
      aria-label={`Curve of ${run.name}`}
      aria-pressed={isDrawn}
      style={{ color: run.color }}
      onClick={() => choice.toggle(run.id)}
      {...hint(isDrawn ? "Hide curve" : "Show curve")}
    >
      <span className={classes.mark} data-drawn={isDrawn || undefined} />
      <Eye size={16} aria-hidden />
    </button>
  );
}

/** Button that keeps a run on top. It appears when the row is hovered, and stays on pinned runs. */
export function PinButton({ run }: { run: ListedRun }) {
  const choice = use(CurveChoiceContext);
  if (!choice) return null;
  const isPinned = choice.pinned.includes(run.id);
  const Pin = isPinned ? IconPinFilled : IconPin;
  return (
    <button
      type="button"
      className={classes.pin}
      data-pinned={isPinned || undefined}
      aria-label={`Pin ${run.name}`}
      aria-pressed={isPinned}
      onClick={() => choice.togglePin(run.id)}
      {...hint(isPinned ? "Unpin run" : "Keep run on top and in the charts")}
    >
      <Pin size={16} aria-hidden />
    </button>
  );
}

/** Mark of the baseline. A click clears it. */
export function BaselineMark({ run }: { run: ListedRun }) {
  const choice = use(CurveChoiceContext);
  if (choice?.baseline?.id !== run.id) return null;
  return (
    <UnstyledButton
      className={classes.baseline}
      title="Clear baseline"
      onClick={() => choice.setBaseline(null)}
    >
      Baseline <IconX size={12} aria-label="Clear" />
    </UnstyledButton>
  );
}

/** Menu items that pin a run or make it the baseline. */
export function ChoiceItems({ run }: { run: ListedRun }) {
  const choice = use(CurveChoiceContext);
  if (!choice) return null;
  const isPinned = choice.pinned.includes(run.id);
  const isBaseline = choice.baseline?.id === run.id;
  return (
    <>
      <Menu.Item
        leftSection={<IconScale size={16} />}
        onClick={() => choice.setBaseline(isBaseline ? null : run.id)}
      >
        {isBaseline ? "Clear baseline" : "Use as baseline"}
      </Menu.Item>
      <Menu.Item leftSection={<IconPin size={16} />} onClick={() => choice.togglePin(run.id)}>
        {isPinned ? "Unpin run" : "Pin run to the top"}
      </Menu.Item>
      <Menu.Divider />
    </>
  );
}
