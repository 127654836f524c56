import { Anchor, Skeleton, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { papersQuery } from "@/api/papers";
import type { Paper } from "@/api/types";
import { plural } from "@/ui/format";
import { QueryError } from "@/ui/QueryError";
import { usePageTitle } from "@/ui/usePageTitle";
import classes from "./papers.module.css";

/** List of papers with their tables and figures. */
export default function PapersPage() {
  usePageTitle("Papers");
  const papers = useQuery(papersQuery);
  return (
    <Stack className={classes.sheet} gap="md">
      <Stack gap={4}>
        <Title order={1}>Papers</Title>
        <Text size="sm" c="dimmed" className={classes.prose}>
          Reproduce tables and figures of the papers as studies. Your runs are drawn over the published
          numbers, and all differences are listed.
        </Text>
      </Stack>
      {papers.isError && !papers.data && (
        <QueryError error={papers.error} retry={() => void papers.refetch()} />
      )}
      {papers.isPending && <Skeleton height={240} radius="sm" role="status" aria-label="Loading papers…" />}
      <div className={classes.papers}>
        {papers.data?.map((paper) => (
          <PaperCard key={paper.name} paper={paper} />
        ))}
      </div>
    </Stack>
  );
}

function PaperCard({ paper }: { paper: Paper }) {
  return (
    <section className={classes.card} aria-label={paper.title}>
      <Title order={2}>
        <Anchor component={Link} to={`/papers/${paper.name}`} inherit>
          {paper.title}
        </Anchor>
      </Title>
      <Text size="sm">{paper.full_title}</Text>
      <p className={classes.dim}>
        {paper.authors}, {paper.year}
      </p>
      <ul className={classes.items}>
        {paper.items.map((item) => (
          <li key={item.name}>
            <Anchor component={Link} to={`/papers/${paper.name}/${item.name}`} size="sm">
              {item.label}
            </Anchor>
            <span>{item.title}</span>
            <span className={classes.count}>
              {item.studies > 0 && plural(item.studies, "study", "studies")}
              {item.unavailable_reason && "not supported"}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
