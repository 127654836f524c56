import { Alert, Anchor, Group, SegmentedControl, Skeleton, Stack, Text, Title } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useParams } from "react-router";
import { paperFigureQuery, paperItemQuery } from "@/api/papers";
import { useMayWrite } from "@/api/projects";
import type { PaperItem, PaperPanel } from "@/api/types";
import { FigureFrame } from "@/charts/FigureFrame";
import { DRAWN_HEADER, drawnRows } from "@/charts/points";
import { DataTable } from "@/ui/DataTable";
import { exact, lowerCaseLabel, nearestPercent, plural } from "@/ui/format";
import { QueryError } from "@/ui/QueryError";
import { usePageTitle } from "@/ui/usePageTitle";
import { WideTable } from "@/ui/WideTable";
import { Diagram } from "./Diagram";
import { Differences, Published, SideBySideTable, StartedStudies } from "./ItemTables";
import { RunItem } from "./RunItem";
import classes from "./papers.module.css";

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

/** Charts of our runs over the paper's results, for one share of the budget. */
function ItemFigures({ item }: { item: PaperItem }) {
  const shares = [...new Set(item.panels.map(({ share }) => share))];
  const [chosen, setChosen] = useState<PaperPanel["share"]>(null);
  const share = chosen !== null && shares.includes(chosen) ? chosen : (shares[0] ?? null);
  const panels = item.panels.filter((panel) => panel.share === share);
  if (panels.length === 0)
    return (
      <section className={classes.card} aria-label="Figure">
        <Text size="sm" c="dimmed">
          No runs of {lowerCaseLabel(item.label)} yet. Run a part of it below. Its runs appear here while they
          train.
        </Text>
      </section>
    );
  return (
    <>
      {shares.length > 1 && (
        <SegmentedControl
          size="xs"
          w="fit-content"
          aria-label="Budget share"
          value={String(share)}
          onChange={(value) => setChosen(shares.find((each) => String(each) === value) ?? null)}
          data={shares.map((each) => ({ value: String(each), label: `${(each ?? 0) * 100} %` }))}
        />
      )}
      <div className={classes.figures}>
        {panels.map((panel) => (
          <ItemFigure key={panel.part ?? ""} item={item} panel={panel} />
        ))}
      </div>
    </>
  );
}

function ItemFigure({ item, panel }: { item: PaperItem; panel: PaperPanel }) {
  const client = useQueryClient();
  const query = paperFigureQuery(item.paper, item.name, { share: panel.share, part: panel.part });
  const points = async () => ({
    header: DRAWN_HEADER,
    rows: drawnRows(await client.ensureQueryData(query)),
  });
  return (
    <section className={classes.card} aria-label={panel.title}>
      <FigureFrame
        title={panel.title}
        hint={item.measures}
        label={`${item.paper_title}, ${item.label}: ${panel.title}. ${item.measures}. ${panel.caption}`}
        query={query}
        zoom={null}
        onZoom={() => undefined}
        revision={String(panel.share)}
        legend
        height={item.height}
        empty="No points yet. Runs appear here while they train."
        file={[item.paper, item.name, panel.part, panel.share].filter((word) => word !== null).join("-")}
        points={points}
      />
      <p className={classes.dim}>
        {item.measures}. {panel.caption}
      </p>
    </section>
  );
}

/** Training speed of our runs relative to the environments alone on the same host. */
function Speeds({ item: { speeds } }: { item: PaperItem }) {
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
