import { Text, Title } from "@mantine/core";
import type { Evaluation } from "@/api/types";
import warningClasses from "@/ui/Warning.module.css";
import runClasses from "../run.module.css";

/** Differences between the protocol and the training that may lower the score. */
export function UnlikeTraining({ evaluation }: { evaluation: Evaluation }) {
  if (evaluation.unlike_training.length === 0) return null;
  return (
    <section className={`${runClasses.card} ${warningClasses.warning}`} aria-label="Unlike training">
      <Title order={3} mb="xs">
        Unlike training
      </Title>
      {evaluation.unlike_training.map((difference) => (
        <Text key={difference} size="sm" mb={4}>
          {difference}
        </Text>
      ))}
    </section>
  );
}
