import { useEffect, useState } from "react";
import { useLiveStatus } from "@/api/live/LiveProvider";
import classes from "./Shell.module.css";

/** A blink of the connection is not worth a word. */
const PATIENCE_MS = 1500;

/** A quiet word while the server is away; everything on screen stays. */
export function LiveNote() {
  const status = useLiveStatus();
  const [late, setLate] = useState(false);
  useEffect(() => {
    if (status === "live") return;
    const timer = setTimeout(() => setLate(true), PATIENCE_MS);
    return () => {
      clearTimeout(timer);
      setLate(false);
    };
  }, [status]);
  return (
    <span role="status" className={classes.live}>
      {status !== "live" && late && (
        <>
          Reconnecting…<span className={classes.wide}> showing the last known state</span>
        </>
      )}
    </span>
  );
}
