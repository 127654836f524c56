import { Anchor, Group, NativeSelect, Skeleton, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useSearchParams } from "react-router";
import { paperDiagramQuery } from "@/api/papers";
import { useMayWrite } from "@/api/projects";
import type { PaperDiagram, PaperItem } from "@/api/types";
import { DataTable } from "@/ui/DataTable";
import { QueryError } from "@/ui/QueryError";
import { STATE_NAMES } from "@/ui/states";
import { WideTable } from "@/ui/WideTable";
import classes from "./diagram.module.css";
import { DiagramDrawing } from "./DiagramDrawing";
import { readingText, titleOf } from "./diagramTexts";
import pageClasses from "./papers.module.css";

/** Architecture of a method with the numbers of the newest run or of the run in the URL, such as ?ga3c=12. */
export function Diagram({ item, name }: { item: PaperItem; name: string }) {
  const [search, setSearch] = useSearchParams();
  const run = Number(search.get(name)) || null;
  const diagram = useQuery(paperDiagramQuery(item.paper, item.name, name, run));
  const choose = (id: string) =>
    setSearch(
      (before) => {
        before.set(name, id);
        return before;
      },
      { replace: true },
    );
  if (diagram.isPending)
    return <Skeleton height={320} radius="sm" role="status" aria-label="Loading the diagram…" />;
  if (!diagram.data) return <QueryError error={diagram.error} retry={() => void diagram.refetch()} />;
  return <DiagramCard diagram={diagram.data} onRun={choose} />;
}

function DiagramCard({ diagram, onRun }: { diagram: PaperDiagram; onRun: (id: string) => void }) {
  return (
    <section className={pageClasses.card} aria-label={diagram.title}>
      <Group justify="space-between" align="start" gap="xs">
        <Title order={2}>{diagram.title}</Title>
        <RunChoice diagram={diagram} onRun={onRun} />
      </Group>
      <DiagramDrawing diagram={diagram} />
      <Title order={3} mt="md">
        Arrows
      </Title>
      <ol className={classes.flows} aria-label="Arrows">
        {diagram.arrows.map(({ start, end, carries }) => (
          <li key={`${start} ${end} ${carries}`}>
            {titleOf(diagram, start)} → {titleOf(diagram, end)}: {carries}
          </li>
        ))}
      </ol>
      <Parts diagram={diagram} />
    </section>
  );
}

function RunChoice({
  diagram: { run, runs, preset },
  onRun,
}: {
  diagram: PaperDiagram;
  onRun: (id: string) => void;
}) {
  const mayWrite = useMayWrite();
  if (run === null)
    return (
      <Text size="sm" c="dimmed">
        No runs yet.{" "}
        {mayWrite && (
          <>
            <Anchor component={Link} to={`/launch?preset=${preset}`} size="sm">
              Launch one
            </Anchor>{" "}
            to see its numbers in the boxes.
          </>
        )}
      </Text>
    );
  return (
    <Group gap="xs" align="end">
      <NativeSelect
        size="xs"
        maw={320}
        label="Run"
        value={String(run.id)}
        onChange={({ currentTarget }) => onRun(currentTarget.value)}
        data={runs.map(({ id, name, state }) => ({
          value: String(id),
          label: `${id} · ${name} (${STATE_NAMES[state].toLowerCase()})`,
        }))}
      />
      <Anchor component={Link} to={`/runs/${run.id}`} size="sm" lh="30px">
        Open run {run.id}
      </Anchor>
    </Group>
  );
}

function Parts({ diagram }: { diagram: PaperDiagram }) {
  return (
    <WideTable label="Parts">
      <Title order={3} mt="md">
        Parts
      </Title>
      <DataTable
        className={pageClasses.table}
        verticalSpacing={6}
        mt={4}
        rows={diagram.boxes}
        rowKey={({ name }) => name}
        columns={[
          {
            title: "Part",
            cell: ({ title, kind }) => (
              <>
                {title}
                <p className={pageClasses.dim}>{kind}</p>
              </>
            ),
          },
          { title: "What it does", className: pageClasses.why, cell: ({ does }) => does },
          {
            title: "Numbers",
            cell: ({ readings }) => (
              <dl className={classes.numbers}>
                {readings.map((reading) => (
                  <NumberRow key={reading.label} label={reading.label} text={readingText(reading)} />
                ))}
              </dl>
            ),
          },
        ]}
      />
    </WideTable>
  );
}

function NumberRow({ label, text }: { label: string; text: string }) {
  return (
    <>
      <dt>{label}</dt>
      <dd>{text}</dd>
    </>
  );
}
