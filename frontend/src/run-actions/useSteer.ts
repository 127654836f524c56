import { type RunAction, sendOnLeaving, useRunAction } from "@/api/mutations";
import type { Run } from "@/api/types";
import { hideNotice, notifyDone, notifyUndoable } from "@/ui/notify";
import { holdStop, undoStop, usePendingStop } from "./pendingStops";
import { ACTION_DONE } from "./words";

const OPPOSITES: Partial<Record<RunAction, RunAction>> = { archive: "restore", restore: "archive" };

const stopNotice = (run: Run) => `stop ${run.id}`;

/** Steers one run: a stop is held back while it can be undone, the rest happens at once and says so. */
export function useSteer(run: Run) {
  const act = useRunAction();
  const stopping = usePendingStop(run.id);
  const { id } = run;

  function keepGoing() {
    undoStop(id);
    hideNotice(stopNotice(run));
  }

  function stop() {
    holdStop(id, (leaving) => {
      hideNotice(stopNotice(run));
      if (leaving) sendOnLeaving(id, "stop");
      else act.mutate({ id, action: "stop" });
    });
    notifyUndoable(stopNotice(run), `Stopping run ${id} …`, keepGoing);
  }

  function steer(action: RunAction) {
    if (action === "stop") {
      stop();
      return;
    }
    const opposite = OPPOSITES[action];
    const said = `Run ${id} ${ACTION_DONE[action]}.`;
    act.mutate(
      { id, action },
      {
        onSuccess() {
          if (opposite) notifyUndoable(`${action} ${id}`, said, () => act.mutate({ id, action: opposite }));
          else notifyDone(said);
        },
      },
    );
  }

  return { steer, stopping, keepGoing, busy: act.isPending ? act.variables.action : null };
}
