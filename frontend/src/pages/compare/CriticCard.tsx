import { Group, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { calibrationsFigureQuery, type CriticMeasure } from "@/api/calibrations";
import { CriticChart, MeasureChoice } from "@/charts/CriticChart";
import classes from "./compare.module.css";

/** Errors of the critics of the runs over training. Empty if no run has a calibration. */
export function CriticCard({ runs }: { runs: readonly number[] }) {
  const { data: biases } = useQuery(calibrationsFigureQuery(runs, { measure: "bias" }));
  const [measure, setMeasure] = useState<CriticMeasure>("rmse");
  if (!biases || biases.data.length === 0) return null;
  return (
    <section className={classes.card} aria-label="Critics">
      <Group gap="sm" mb="xs">
        <Title order={2}>Critics</Title>
        <MeasureChoice measure={measure} onMeasure={setMeasure} />
      </Group>
      <CriticChart runs={runs} measure={measure} />
      <Text size="xs" c="var(--arcadia-dim)" mt="xs">
        By the calibrations of the runs. Values and returns have the scale of training: compare runs with the
        same discount and reward clipping.
      </Text>
    </section>
  );
}
