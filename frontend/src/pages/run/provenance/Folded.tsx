import type { ReactNode } from "react";
import classes from "./provenance.module.css";

/** A part that opens on a click. */
export function Folded({ title, children }: { title: string; children: ReactNode }) {
  return (
    <details className={classes.folded}>
      <summary>{title}</summary>
      {children}
    </details>
  );
}
