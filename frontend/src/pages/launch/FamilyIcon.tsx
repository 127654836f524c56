import { IconCube, IconDeviceGamepad2 } from "@tabler/icons-react";
import type { EnvironmentFamily } from "@/api/types";
import classes from "./launch.module.css";

const SIZE = 20;

/** Lines of the icons of families, in a square of 24. */
const DRAWINGS: Partial<Record<string, string>> = {
  // A ball above a paddle.
  "first-steps": "M4 4h16v16H4z M9 17h6 M12 8v.01",
  // A pole on a cart.
  "classic-control": "M5 13h10v4H5z M10 13l6-9 M3 20h18 M7.5 17v.01 M12.5 17v.01",
  // A lander over the ground.
  box2d: "M9 6h6l2 6H7z M8 12l-3 5 M16 12l3 5 M2 20c4-1 6 0 10 0s6-1 10 0",
  // A leg with joints.
  mujoco: "M11 3a2 2 0 1 0 .01 0z M11 7l3 5-5 4 1 5 M10 21h4",
  mazes: "M4 4h16v16H4z M4 9h6v6 M14 4v6h6 M10 20v-1 M15 20v-5h-1",
};

/** Picture of an environment that no run has played yet. */
export function FamilyIcon({ family }: { family: Pick<EnvironmentFamily, "name"> }) {
  const drawing = DRAWINGS[family.name];
  return (
    <span className={classes.familyIcon} aria-hidden>
      {drawing ? (
        <svg
          width={SIZE}
          height={SIZE}
          viewBox="0 0 24 24"
          fill="none"
          stroke="currentColor"
          strokeWidth={1.5}
          strokeLinecap="round"
          strokeLinejoin="round"
        >
          <path d={drawing} />
        </svg>
      ) : family.name === "atari" ? (
        <IconDeviceGamepad2 size={SIZE} stroke={1.5} />
      ) : (
        <IconCube size={SIZE} stroke={1.5} />
      )}
    </span>
  );
}
