import { Text, Title } from "@mantine/core";
import type { PaperItem } from "@/api/types";
import { DataTable } from "@/ui/DataTable";
import { exact, nearestPercent, plural } from "@/ui/format";
import { WideTable } from "@/ui/WideTable";
import classes from "./papers.module.css";

/** Training speed of our runs relative to the environments alone on the same host. */
export function Speeds({ item: { speeds } }: { item: PaperItem }) {
  if (speeds.length === 0) return null;
  const missing = speeds.filter(({ of_ceiling }) => of_ceiling === null).length;
  return (
    <WideTable label="Speed relative to the environments" className={classes.card}>
      <Title order={2}>Speed relative to the environments</Title>
      <Text size="sm" mt={4} className={classes.prose}>
        Before training, each run steps its environments with random actions and without learning. This is the
        maximum speed of its host.
        {missing > 0 &&
          ` ${plural(missing, "setting")} did not measure this. Run the part again to measure it.`}
      </Text>
      <DataTable
        className={classes.table}
        verticalSpacing={6}
        mt="xs"
        rows={speeds}
        rowKey={({ part, share, setting }) => `${part} ${share} ${setting}`}
        columns={[
          { title: "Part", cell: ({ part, share }) => `${part}, ${nearestPercent(share)}` },
          { title: "Setting", cell: ({ setting }) => setting },
          { title: "Steps per second", numeric: true, cell: ({ rate }) => exact(Math.round(rate)) },
          {
            title: "Environments alone",
            numeric: true,
            cell: ({ ceiling }) => (ceiling === null ? "not measured" : exact(Math.round(ceiling))),
          },
          {
            title: "Relative",
            numeric: true,
            cell: ({ of_ceiling }) => (of_ceiling === null ? "–" : nearestPercent(of_ceiling)),
          },
        ]}
      />
    </WideTable>
  );
}
