import { IconCircleDashed, IconPlayerPlayFilled, IconPlugConnectedX } from "@tabler/icons-react";
import type { Worker } from "@/api/types";
import classes from "./workers.module.css";

const STATES = {
  idle: { name: "Idle", Sign: IconCircleDashed },
  busy: { name: "Training", Sign: IconPlayerPlayFilled },
  gone: { name: "Gone", Sign: IconPlugConnectedX },
};

export function WorkerState({ state }: { state: Worker["state"] }) {
  const { name, Sign } = STATES[state];
  return (
    <span className={classes.state} data-state={state}>
      <Sign size={14} aria-hidden />
      {name}
    </span>
  );
}
