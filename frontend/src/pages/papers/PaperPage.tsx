import { Anchor, Skeleton, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "react-router";
import { paperQuery } from "@/api/papers";
import type { Paper } from "@/api/types";
import { DataTable } from "@/ui/DataTable";
import { exact, short } from "@/ui/format";
import { QueryError } from "@/ui/QueryError";
import { usePageTitle } from "@/ui/usePageTitle";
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
      <DataTable
        label="Tables and figures"
        frameClass={classes.card}
        className={classes.table}
        verticalSpacing="xs"
        rows={paper.items}
        rowKey={({ name }) => name}
        columns={[
          {
            title: "Item",
            cell: ({ name, label }) => (
              <Anchor component={Link} to={`/papers/${paper.name}/${name}`} size="sm" fw={500}>
                {label}
              </Anchor>
            ),
            cellProps: () => ({ style: { whiteSpace: "nowrap" } }),
          },
          {
            title: "Content",
            className: classes.why,
            cell: ({ title, unavailable_reason }) => (
              <>
                {title}
                {unavailable_reason && <p className={classes.dim}>{unavailable_reason}</p>}
              </>
            ),
          },
          { title: "Full runs", numeric: true, cell: ({ runs }) => (runs > 0 ? exact(runs) : "–") },
          { title: "Full frames", numeric: true, cell: ({ frames }) => (frames > 0 ? short(frames) : "–") },
          { title: "Studies here", numeric: true, cell: ({ studies }) => studies },
        ]}
      />
    </>
  );
}
