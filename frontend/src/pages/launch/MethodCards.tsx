import { Radio, Text } from "@mantine/core";
import type { Environment } from "@/api/types";
import classes from "./launch.module.css";
import { subtitleOf } from "./methodSubtitle";
import type { Variant } from "@/config-form/schema";

interface MethodCardsProps {
  variants: readonly Variant[];
  chosen: string | undefined;
  /** The chosen environment, if it is known. */
  environment: Environment | undefined;
  onChoose: (variant: Variant) => void;
}

/** Cards to choose a method. A method that cannot learn the environment is disabled, with the reason. */
export function MethodCards({ variants, chosen, environment, onChoose }: MethodCardsProps) {
  const choose = (algorithm: string) => {
    const variant = variants.find((candidate) => candidate.algorithm === algorithm);
    if (variant) onChoose(variant);
  };
  return (
    <Radio.Group value={chosen ?? null} onChange={choose} label="Method" labelProps={{ fw: 600 }}>
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
                {unfit ? `Not for ${environment.title}: ${environment.unfit_because}.` : subtitleOf(variant)}
              </Text>
            </Radio.Card>
          );
        })}
      </div>
    </Radio.Group>
  );
}
