import { useEffect, useState } from "react";
import { useLiveStatus } from "@/api/live/LiveProvider";
import classes from "./Shell.module.css";

/** Shorter interruptions are not shown. */
const DELAY_MS = 1500;

/** Shows when the live connection is lost. The page keeps its content. */
export function ConnectionStatus() {
  const status = useLiveStatus();
  const [isLate, setIsLate] = useState(false);
  useEffect(() => {
    if (status === "live") return;
    const timer = setTimeout(() => setIsLate(true), DELAY_MS);
    return () => {
      clearTimeout(timer);
      setIsLate(false);
    };
  }, [status]);
  return (
    <span role="status" className={classes.live}>
      {status !== "live" && isLate && (
        <>
          Reconnecting…<span className={classes.wide}> showing the last known state</span>
        </>
      )}
    </span>
  );
}
