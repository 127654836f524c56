import { type CSSProperties, type ReactNode, Children } from "react";
import classes from "./stage.module.css";
import type { OnStage } from "./useStage";

interface StageProps {
  stage: OnStage;
  label: string;
  /** What is said over the picture, if anything. */
  sentence: ReactNode;
  /** What stands beside the picture. */
  children: ReactNode;
}

/** The picture of a live game, and what stands beside it. */
export function Stage({ stage: { env, canvas, shape }, label, sentence, children }: StageProps) {
  const said = Children.toArray(sentence).length > 0;
  return (
    <section className={classes.sheet} style={{ "--shape": shape } as CSSProperties} aria-label="Live game">
      <div className={classes.stage} data-quiet={said || undefined}>
        <canvas
          ref={canvas}
          role="img"
          aria-label={`${env}, ${label}`}
          className={env.startsWith("ALE/") ? "pixelated" : undefined}
        />
        {said && (
          <div className={classes.sentence} role="status">
            {sentence}
          </div>
        )}
      </div>
      <div className={classes.beside}>{children}</div>
    </section>
  );
}
