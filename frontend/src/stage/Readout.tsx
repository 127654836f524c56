import type { ReactNode } from "react";
import classes from "./stage.module.css";

interface ReadoutProps {
  /** Whether the first number is a long one, as "1,234 of 5,678". */
  longFirst?: boolean;
  children: ReactNode;
}

/** Numbers of a game that is shown, with their names. */
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
