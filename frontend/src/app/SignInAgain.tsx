import { useEffect, useState } from "react";
import { onOldSession } from "@/api/client";
import { lazyPart } from "@/ui/lazyPart";

const SignInAgainDialog = lazyPart(() =>
  import("./SignInAgainDialog").then((module) => module.SignInAgainDialog),
);

type Answer = (proved: boolean) => void;

/** Opens a dialog when an action needs a person who has just signed in. The action continues afterwards. */
export function SignInAgain() {
  const [answer, setAnswer] = useState<Answer>();
  useEffect(() => {
    onOldSession(
      () =>
        new Promise((resolve) =>
          // Several requests wait for one dialog.
          setAnswer((waiting: Answer | undefined) => (proved: boolean) => {
            waiting?.(proved);
            resolve(proved);
          }),
        ),
    );
    return () => onOldSession(undefined);
  }, []);
  if (!answer) return null;
  return (
    <SignInAgainDialog
      onAnswer={(proved) => {
        setAnswer(undefined);
        answer(proved);
      }}
    />
  );
}
