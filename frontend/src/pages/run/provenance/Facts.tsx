import classes from "./provenance.module.css";

interface FactsProps {
  /** Names with their values. Those without a value are left out. */
  facts: readonly (readonly [string, string | false | null | undefined])[];
  mono?: boolean;
}

/** Names and values in two columns, or below each other on a phone. */
export function Facts({ facts, mono = false }: FactsProps) {
  return (
    <dl className={classes.facts} data-mono={mono || undefined}>
      {facts.map(([name, value]) =>
        value ? (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ) : null,
      )}
    </dl>
  );
}
