import type { ReactNode } from "react";
import classes from "./stage.module.css";

/** Numbers of a live game with their names. */
export function Readout({ children }: { children: ReactNode }) {
  return <dl className={classes.readout}>{children}</dl>;
}

export const Fact = ({ is, children }: { is: string; children: ReactNode }) => (
  <div>
    <dt>{is}</dt>
    <dd>{children}</dd>
  </div>
);
