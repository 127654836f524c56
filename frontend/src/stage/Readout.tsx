import type { ReactNode } from "react";
import classes from "./stage.module.css";

interface ReadoutProps {
  /** True if the first number is long, such as "1,234 of 5,678". */
  longFirst?: boolean;
  children: ReactNode;
}

/** Labeled numbers of the shown game. */
export function Readout({ longFirst = false, children }: ReadoutProps) {
  return (
    <dl className={classes.readout} data-long-first={longFirst || undefined}>
      {children}
    </dl>
  );
}

export const Fact = ({ is, children }: { is: string; children: ReactNode }) => (
  <div>
    <dt>{is}</dt>
    <dd>{children}</dd>
  </div>
);
