import { Radio, Text } from "@mantine/core";
import type { Environment } from "@/api/types";
import classes from "./launch.module.css";
import type { Variant } from "./schema";

interface MethodCardsProps {
  variants: readonly Variant[];
  chosen: string | undefined;
  /** The game that is to be learnt, if it is known. */
  environment: Environment | undefined;
  onChoose: (variant: Variant) => void;
}

/** The methods; one that cannot learn the chosen game says why instead of being offered. */
export function MethodCards({ variants, chosen, environment, onChoose }: MethodCardsProps) {
  const choose = (algorithm: string) => {
    const variant = variants.find((candidate) => candidate.algorithm === algorithm);
    if (variant) onChoose(variant);
  };
  return (
    <Radio.Group value={chosen ?? null} onChange={choose} label="Method">
      <div className={classes.methods}>
        {variants.map((variant) => {
          const unfit = environment && !environment.algorithms.some((name) => name === variant.algorithm);
          return (
            <Radio.Card
              key={variant.algorithm}
              value={variant.algorithm}
              className={classes.method}
              disabled={Boolean(unfit)}
            >
              <Text fw={600} size="sm" component="span">
                {variant.title}
              </Text>
              <Text
                size="xs"
                c="dimmed"
                component="span"
                className={classes.methodHelp}
                data-unfit={unfit || undefined}
              >
                {unfit
                  ? `Not for ${environment.title}: ${environment.unfit_because}.`
                  : withoutTitle(variant.description)}
              </Text>
            </Radio.Card>
          );
        })}
      </div>
    </Radio.Group>
  );
}

/** What a method is, without its name in front and its paper behind: those stand in the card's title and in the presets. */
function withoutTitle(description: string): string {
  const words = description.replace(/^[^:(]{1,12}: /, "").replace(/ \([^()]*\d{4}[^()]*\)\.$/, ".");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
