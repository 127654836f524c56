import { Kbd } from "@mantine/core";
import type { PointerEvent, ReactNode } from "react";
import type { Key, Scene } from "./protocol";
import classes from "./stage.module.css";
import type { Hands } from "./useHands";

interface ControllerProps extends Pick<Hands, "hold"> {
  /** Null while the game is loading. */
  scene: Scene | null;
  /** Effect of the key R. */
  restarts?: string;
  /** Help for more keys. */
  children?: ReactNode;
}

/** Key help, and the keys themselves on a touch screen. */
export function Controller({ scene, hold, restarts = "new game", children }: ControllerProps) {
  const hasFire = scene?.has_fire ?? true;
  return (
    <>
      <div className={classes.legend}>
        <span>
          <Kbd>←</Kbd> <Kbd>↑</Kbd> <Kbd>→</Kbd> <Kbd>↓</Kbd> move
        </span>
        {hasFire && (
          <span>
            <Kbd>Space</Kbd> fire
          </span>
        )}
        <span>
          <Kbd>R</Kbd> {restarts}
        </span>
        {children}
      </div>
      <div className={classes.pads}>
        <div className={classes.directions}>
          {DIRECTIONS.map((pad, place) =>
            pad ? (
              <Pad key={pad.name} hold={hold} {...pad}>
                {pad.sign}
              </Pad>
            ) : (
              <span key={place} />
            ),
          )}
        </div>
        {hasFire && (
          <Pad name="Fire" keys={["fire"]} hold={hold} className={classes.fire}>
            Fire
          </Pad>
        )}
      </div>
    </>
  );
}

const DIRECTIONS: ({ name: string; sign: string; keys: Key[] } | null)[] = [
  { name: "Up and left", sign: "↖", keys: ["up", "left"] },
  { name: "Up", sign: "↑", keys: ["up"] },
  { name: "Up and right", sign: "↗", keys: ["up", "right"] },
  { name: "Left", sign: "←", keys: ["left"] },
  null,
  { name: "Right", sign: "→", keys: ["right"] },
  { name: "Down and left", sign: "↙", keys: ["down", "left"] },
  { name: "Down", sign: "↓", keys: ["down"] },
  { name: "Down and right", sign: "↘", keys: ["down", "right"] },
];

interface PadProps extends Pick<Hands, "hold"> {
  name: string;
  keys: Key[];
  className?: string;
  children: string;
}

function Pad({ name, keys, hold, className = "", children }: PadProps) {
  const change = (down: boolean) => (event: PointerEvent) => hold(keys, down, event.timeStamp);
  return (
    <button
      type="button"
      aria-label={name}
      className={`${classes.pad} ${className}`}
      onPointerDown={change(true)}
      onPointerUp={change(false)}
      onPointerCancel={change(false)}
      onPointerLeave={change(false)}
      onContextMenu={(event) => event.preventDefault()}
    >
      {children}
    </button>
  );
}
