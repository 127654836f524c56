import classes from "./RunName.module.css";

/** A run's name, which is cut in front of what tells the run from others; all of it on hover. */
export function RunName({ name }: { name: string }) {
  const [shared, differing] = divided(name);
  return (
    <span className={classes.name} title={name}>
      <span className={classes.shared}>{shared}</span>
      {differing && <span className={classes.differing}>{differing}</span>}
    </span>
  );
}

/** Divide a name behind the method and the game, with which automatic names begin. */
function divided(name: string): [string, string] {
  const parts = name.split(" · ");
  if (parts.length < 3) return [name, ""];
  return [parts.slice(0, 2).join(" · "), ` · ${parts.slice(2).join(" · ")}`];
}
