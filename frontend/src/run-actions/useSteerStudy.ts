import { type StudyAction, useStudyAction } from "@/api/studies";
import { sendWithRetries, useUnsentActions } from "./retriedActions";
import { ACTION_PARTICIPLES } from "./words";

/** Return a function that pauses, resumes or stops a study, and the action that is being sent. */
export function useSteerStudy(id: number) {
  const act = useStudyAction(id);
  const key = `steer study ${id}`;
  const sending = useUnsentActions().find((unsent) => unsent.key === key && unsent.isSending)?.request.action;
  const send = (action: StudyAction) =>
    sendWithRetries({
      key,
      request: { target: "study", id, action },
      failure: `Study ${id} was NOT ${ACTION_PARTICIPLES[action]}`,
      send: () => act.mutateAsync(action),
    });
  return { send, sending };
}
