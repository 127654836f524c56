import { Table, Text, Title } from "@mantine/core";
import type { PaperItem } from "@/api/types";
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
      <Table className={classes.table} verticalSpacing={6} mt="xs">
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">Part</Table.Th>
            <Table.Th scope="col">Setting</Table.Th>
            <Table.Th scope="col" className={classes.number}>
              Steps per second
            </Table.Th>
            <Table.Th scope="col" className={classes.number}>
              Environments alone
            </Table.Th>
            <Table.Th scope="col" className={classes.number}>
              Relative
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {speeds.map(({ part, share, setting, rate, ceiling, of_ceiling }) => (
            <Table.Tr key={`${part} ${share} ${setting}`}>
              <Table.Td>
                {part}, {nearestPercent(share)}
              </Table.Td>
              <Table.Td>{setting}</Table.Td>
              <Table.Td className={classes.number}>{exact(Math.round(rate))}</Table.Td>
              <Table.Td className={classes.number}>
                {ceiling === null ? "not measured" : exact(Math.round(ceiling))}
              </Table.Td>
              <Table.Td className={classes.number}>
                {of_ceiling === null ? "–" : nearestPercent(of_ceiling)}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </WideTable>
  );
}
