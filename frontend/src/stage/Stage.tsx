import { ActionIcon } from "@mantine/core";
import { useElementSize, useFullscreenElement, useMergedRef } from "@mantine/hooks";
import { IconMaximize, IconMinimize } from "@tabler/icons-react";
import { type CSSProperties, type ReactNode, Children } from "react";
import { useShortcuts } from "@/ui/shortcuts";
import { fittedWidth } from "./fit";
import classes from "./stage.module.css";
import type { OnStage } from "./useStage";

interface StageProps {
  stage: OnStage;
  label: string;
  /** Message over the picture, if any. */
  sentence: ReactNode;
  /** Short message below the middle of a picture that stays visible. */
  hint?: string | null;
  /** Content next to the picture. */
  children: ReactNode;
}

/** Picture of a live game with content next to it. */
export function Stage({
  stage: { env, isPixelArt, canvas, shape, pixels },
  label,
  sentence,
  hint,
  children,
}: StageProps) {
  const { ref: measured, width, height } = useElementSize<HTMLDivElement>();
  const { ref: filled, toggle, fullscreen } = useFullscreenElement<HTMLDivElement>();
  const box = useMergedRef(measured, filled);
  useShortcuts([{ keys: "f", does: "show the picture in full screen", run: () => void toggle() }]);
  const fitted = fittedWidth({ width, height }, shape, isPixelArt ? pixels : null, window.devicePixelRatio);
  const said = Children.toArray(sentence).length > 0;
  return (
    <section className={classes.sheet} style={{ "--shape": shape } as CSSProperties} aria-label="Live game">
      <div ref={box} className={classes.stage} data-quiet={said || undefined}>
        <canvas
          ref={canvas}
          role="img"
          aria-label={`${env}, ${label}`}
          className={isPixelArt ? "pixelated" : undefined}
          style={{ width: fitted }}
        />
        <ActionIcon
          className={classes.fill}
          variant="default"
          aria-label={fullscreen ? "Leave full screen" : "Full screen"}
          onClick={() => void toggle()}
        >
          {fullscreen ? <IconMinimize size={16} aria-hidden /> : <IconMaximize size={16} aria-hidden />}
        </ActionIcon>
        {said && (
          <div className={classes.sentence} role="status">
            {sentence}
          </div>
        )}
        {!said && hint && (
          <div className={classes.hint} role="status">
            {hint}
          </div>
        )}
      </div>
      <div className={classes.beside}>{children}</div>
    </section>
  );
}
