import { Anchor, Skeleton, Stack, Table, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "react-router";
import { paperQuery } from "@/api/papers";
import type { Paper, PaperItemSummary } from "@/api/types";
import { exact, short } from "@/ui/format";
import { QueryError } from "@/ui/QueryError";
import { usePageTitle } from "@/ui/usePageTitle";
import { WideTable } from "@/ui/WideTable";
import classes from "./papers.module.css";

/** One paper with its tables and figures, and the full cost of each. */
export default function PaperPage() {
  const name = useParams().paper ?? "";
  const paper = useQuery(paperQuery(name));
  usePageTitle(paper.data?.title ?? "Papers");
  return (
    <Stack className={classes.sheet} gap="md">
      <Anchor component={Link} to="/papers" size="sm" w="fit-content">
        All papers
      </Anchor>
      {paper.isError && !paper.data && (
        <>
          <Title order={1}>{name}</Title>
          <QueryError error={paper.error} retry={() => void paper.refetch()} />
        </>
      )}
      {paper.isPending && (
        <>
          <Title order={1}>{name}</Title>
          <Skeleton height={320} radius="sm" role="status" aria-label="Loading the paper…" />
        </>
      )}
      {paper.data && <PaperSheet paper={paper.data} />}
    </Stack>
  );
}

function PaperSheet({ paper }: { paper: Paper }) {
  return (
    <>
      <Stack gap={4}>
        <Title order={1}>
          {paper.title}: {paper.full_title}
        </Title>
        <Text size="sm" c="dimmed">
          {paper.authors}, {paper.year}
        </Text>
        <Text size="sm" className={classes.prose}>
          {paper.shows}
        </Text>
      </Stack>
      <WideTable label="Tables and figures" className={classes.card}>
        <Table className={classes.table} verticalSpacing="xs">
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">Item</Table.Th>
              <Table.Th scope="col">Content</Table.Th>
              <Table.Th scope="col" className={classes.number}>
                Full runs
              </Table.Th>
              <Table.Th scope="col" className={classes.number}>
                Full frames
              </Table.Th>
              <Table.Th scope="col" className={classes.number}>
                Studies here
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {paper.items.map((item) => (
              <ItemRow key={item.name} paper={paper} item={item} />
            ))}
          </Table.Tbody>
        </Table>
      </WideTable>
    </>
  );
}

function ItemRow({ paper, item }: { paper: Paper; item: PaperItemSummary }) {
  return (
    <Table.Tr>
      <Table.Td style={{ whiteSpace: "nowrap" }}>
        <Anchor component={Link} to={`/papers/${paper.name}/${item.name}`} size="sm" fw={500}>
          {item.label}
        </Anchor>
      </Table.Td>
      <Table.Td className={classes.why}>
        {item.title}
        {item.unavailable_reason && <p className={classes.dim}>{item.unavailable_reason}</p>}
      </Table.Td>
      <Table.Td className={classes.number}>{item.runs > 0 ? exact(item.runs) : "–"}</Table.Td>
      <Table.Td className={classes.number}>{item.frames > 0 ? short(item.frames) : "–"}</Table.Td>
      <Table.Td className={classes.number}>{item.studies}</Table.Td>
    </Table.Tr>
  );
}
