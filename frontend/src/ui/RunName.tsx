import classes from "./RunName.module.css";

interface RunNameProps {
  name: string;
  /** True to use a second line on a narrow screen. */
  wraps?: boolean;
}

/** Name of a run. The part that distinguishes the run is never cut off. The full name is shown on hover. */
export function RunName({ name, wraps = false }: RunNameProps) {
  const [shared, differing] = splitName(name);
  return (
    <span className={classes.name} data-wraps={wraps || undefined} title={name}>
      <span className={classes.shared}>{shared}</span>
      {differing && <span className={classes.differing}>{differing}</span>}
    </span>
  );
}

/** Split a name after the method and the game, with which automatic names start. */
function splitName(name: string): [string, string] {
  const parts = name.split(" · ");
  if (parts.length < 3) return [name, ""];
  return [parts.slice(0, 2).join(" · "), ` · ${parts.slice(2).join(" · ")}`];
}
