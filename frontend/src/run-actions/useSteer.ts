import { type RunAction, sendOnUnload, useRunAction } from "@/api/runs";
import type { Run } from "@/api/types";
import { hideNotice, notifyDone, notifyUndoable } from "@/ui/notify";
import { holdStop, undoStop, usePendingStop } from "./pendingStops";
import { promise, useUnsentActions } from "./promisedActions";
import { store } from "./storedActions";
import { ACTION_DONE, ACTION_PAST } from "./words";

const OPPOSITES: Partial<Record<RunAction, RunAction>> = { archive: "restore", restore: "archive" };

const stopNotice = (run: Run) => `stop ${run.id}`;

/** Steers one run: a stop is held back while it can be undone, the rest is sent at once. All are retried. */
export function useSteer(run: Run) {
  const act = useRunAction();
  const stopping = usePendingStop(run.id);
  const { id } = run;
  const archiving = `archive run ${id}`;
  const steering = `steer run ${id}`;
  const unsent = useUnsentActions().find(({ key, isSending }) => key === steering && isSending);

  const described = (action: RunAction) => ({
    key: action in OPPOSITES ? archiving : steering,
    request: { target: "run" as const, id, action },
    failure: `Run ${id} was NOT ${ACTION_PAST[action]}`,
  });

  function send(action: RunAction, onDone?: () => void) {
    promise({
      ...described(action),
      send: () => act.mutateAsync({ id, action }).then(onDone),
      sendOnUnload: () => sendOnUnload(id, action),
    });
  }

  function keepGoing() {
    undoStop(id);
    hideNotice(stopNotice(run));
  }

  function stop() {
    holdStop(id, (leaving) => {
      hideNotice(stopNotice(run));
      if (!leaving) {
        send("stop");
        return;
      }
      // The next page shows or repeats it: nobody reads the answer here.
      store({ ...described("stop"), reason: null, requestedAt: Date.now() });
      sendOnUnload(id, "stop");
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
    send(action, () => {
      if (opposite) notifyUndoable(`${action} ${id}`, said, () => send(opposite));
      else notifyDone(said);
    });
  }

  return { steer, stopping, keepGoing, busy: unsent?.request.action ?? null };
}
