import { Alert, Anchor, Group, Skeleton, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "react-router";
import { paperItemQuery } from "@/api/papers";
import { useMayWrite } from "@/api/projects";
import type { PaperItem } from "@/api/types";
import { QueryError } from "@/ui/QueryError";
import { usePageTitle } from "@/ui/usePageTitle";
import { Diagram } from "./Diagram";
import { ItemFigures } from "./ItemFigures";
import { SideBySideTable, Differences, Published, StartedStudies } from "./ItemTables";
import classes from "./papers.module.css";
import { RunItem } from "./RunItem";
import { Speeds } from "./Speeds";

/** A table or figure of a paper: results, differences and a form to run it. */
export default function ItemPage() {
  const { paper = "", item: name = "" } = useParams();
  const item = useQuery(paperItemQuery(paper, name));
  usePageTitle(item.data ? `${item.data.paper_title}, ${item.data.label}` : "Papers");
  return (
    <Stack className={classes.sheet} gap="md">
      <Group gap="xs">
        <Anchor component={Link} to="/papers" size="sm">
          All papers
        </Anchor>
        <Anchor component={Link} to={`/papers/${paper}`} size="sm">
          {item.data?.paper_title ?? paper}
        </Anchor>
      </Group>
      {item.isError && !item.data && (
        <>
          <Title order={1}>{name}</Title>
          <QueryError error={item.error} retry={() => void item.refetch()} />
        </>
      )}
      {item.isPending && (
        <>
          <Title order={1}>{name}</Title>
          <Skeleton height={320} radius="sm" role="status" aria-label="Loading the item…" />
        </>
      )}
      {item.data && <ItemSheet key={`${paper} ${name}`} item={item.data} />}
    </Stack>
  );
}

function ItemSheet({ item }: { item: PaperItem }) {
  const mayWrite = useMayWrite();
  return (
    <>
      <Title order={1}>
        {item.paper_title}, {item.label}: {item.title}
      </Title>
      {item.measures !== "" && <ItemFigures item={item} />}
      <SideBySideTable item={item} />
      {item.diagrams.map((name) => (
        <Diagram key={name} item={item} name={name} />
      ))}
      <div className={classes.both}>
        <Description heading="The paper" words={item.theirs} />
        <Description heading="Arcadia" words={item.ours} />
      </div>
      {item.unavailable_reason && (
        <Alert variant="light" color="yellow" p="sm" title="Not supported by Arcadia">
          <Text size="sm">{item.unavailable_reason}</Text>
          {item.substitute && mayWrite && (
            <Text size="sm" mt={4}>
              <Anchor
                component={Link}
                to={`/launch?env=${encodeURIComponent(item.substitute.env)}`}
                c="inherit"
                size="sm"
              >
                Launch a run in {item.substitute.title}
              </Anchor>{" "}
              instead. {item.substitute.why}
            </Text>
          )}
        </Alert>
      )}
      <Speeds item={item} />
      {item.parts.length > 0 && mayWrite && <RunItem item={item} />}
      <StartedStudies item={item} />
      <Differences item={item} />
      <Published item={item} />
    </>
  );
}

function Description({ heading, words }: { heading: string; words: string }) {
  return (
    <section className={classes.card} aria-label={heading}>
      <Title order={2}>{heading}</Title>
      <Text size="sm" mt={4}>
        {words}
      </Text>
    </section>
  );
}
