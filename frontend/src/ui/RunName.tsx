import classes from "./RunName.module.css";

interface RunNameProps {
  name: string;
  /** True to use a second line on a narrow screen. */
  wraps?: boolean;
}

/**
 * Name of a run, in full on hover. Where it does not fit, the method and the game are cut first, to their first letters,
 * then the seed, and then the settings, which distinguish the run.
 */
export function RunName({ name, wraps = false }: RunNameProps) {
  const { shared, seed, settings } = splitName(name);
  return (
    <span className={classes.name} data-wraps={wraps || undefined} title={name}>
      <span className={classes.shared}>{shared}</span>
      {seed && <span className={classes.seed}>{seed}</span>}
      {settings && <span className={classes.differing}>{settings}</span>}
    </span>
  );
}

const SEED = /^seed \d+$/;

/** Split an automatic name into the method and the game, the seed, and the settings. */
function splitName(name: string) {
  const parts = name.split(" · ");
  if (parts.length < 3) return { shared: name, seed: "", settings: "" };
  const [method, game, ...differing] = parts;
  const joined = (some: string[]) => some.map((part) => ` · ${part}`).join("");
  const settings = differing.filter((part) => !SEED.test(part));
  // Without other settings, the seed is what distinguishes the run.
  const isSeedFirst = SEED.test(differing[0] ?? "") && settings.length > 0;
  return {
    shared: `${method} · ${game}`,
    seed: isSeedFirst ? joined(differing.slice(0, 1)) : "",
    settings: joined(isSeedFirst ? differing.slice(1) : differing),
  };
}
