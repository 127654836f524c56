import { Anchor, Group, NativeSelect, Skeleton, Text, Title } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { Link, useSearchParams } from "react-router";
import { paperDiagramQuery } from "@/api/papers";
import { useMayWrite } from "@/api/projects";
import type { PaperDiagram, PaperItem } from "@/api/types";
import { DataTable } from "@/ui/DataTable";
import { isSize, measured, nearestPercent, short } from "@/ui/format";
import { QueryError } from "@/ui/QueryError";
import { STATE_NAMES } from "@/ui/states";
import { WideTable } from "@/ui/WideTable";
import {
  type BoxPlace,
  type DiagramLayout,
  layOut,
  type Line,
  readingHeight,
  READINGS_BELOW,
  type Rectangle,
} from "./diagramLayout";
import classes from "./diagram.module.css";
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

/** Minimum scale at which the wide drawing is readable. */
const MIN_SCALE = 0.85;
const PAD = 10;

/** Drawing of a diagram. The lists below it have the same content as text. */
function DiagramDrawing({ diagram }: { diagram: PaperDiagram }) {
  const { ref, width } = useElementSize();
  const wide = layOut(diagram, false);
  const narrow = width > 0 && width < wide.width * MIN_SCALE;
  const layout = narrow ? layOut(diagram, true) : wide;
  return (
    <div ref={ref} className={classes.frame}>
      <svg
        viewBox={`0 0 ${layout.width} ${layout.height}`}
        style={{ maxWidth: narrow ? 1.25 * layout.width : layout.width }}
        className={classes.drawing}
        role="img"
        aria-label={`${diagram.title}. The parts and arrows are listed below the drawing.`}
      >
        {diagram.groups.map((group, place) => (
          <GroupFrame key={group.title} title={group.title} frame={layout.groups[place]} />
        ))}
        {diagram.boxes.map((box) => (
          <BoxDrawing key={box.name} box={box} place={layout.boxes.get(box.name)} />
        ))}
        {diagram.arrows.map(({ start, end, carries }, place) => (
          <ArrowDrawing
            key={`${start} ${end} ${carries}`}
            number={place + 1}
            carries={narrow ? null : carries}
            line={layout.arrows[place]}
            below={isLower(layout, place)}
          />
        ))}
      </svg>
    </div>
  );
}

function GroupFrame({ title, frame }: { title: string; frame: Rectangle | undefined }) {
  if (!frame) return null;
  return (
    <>
      <rect {...frame} rx={8} className={classes.group} />
      <text x={frame.x + PAD} y={frame.y + frame.height - 8} className={classes.kind}>
        {title}
      </text>
    </>
  );
}

type Box = PaperDiagram["boxes"][number];

function BoxDrawing({ box, place }: { box: Box; place: BoxPlace | undefined }) {
  if (!place) return null;
  const { x, y, width, height, stacked } = place;
  return (
    <g className={box.learned ? classes.learned : undefined}>
      {box.many && <rect x={x + 4} y={y - 4} width={width} height={height} rx={6} className={classes.box} />}
      <rect x={x} y={y} width={width} height={height} rx={6} className={classes.box} />
      <text x={x + PAD} y={y + 20} className={stacked ? classes.smallName : classes.name}>
        {box.title}
      </text>
      <text x={x + PAD} y={y + 36} className={classes.kind}>
        {box.kind}
      </text>
      {box.readings.map((reading, line) => (
        <g
          key={reading.label}
          transform={`translate(0 ${y + READINGS_BELOW + readingHeight(stacked) * line + 14})`}
        >
          <text x={x + PAD} className={classes.label}>
            {reading.label}
          </text>
          <text x={x + width - PAD} y={stacked ? 15 : 0} textAnchor="end" className={classes.value}>
            {readingText(reading)}
          </text>
        </g>
      ))}
    </g>
  );
}

/** Return true if the arrow is the lower of two opposite ones. Its label is then below it. */
function isLower(layout: DiagramLayout, place: number): boolean {
  const [x, y] = layout.arrows[place]?.badge ?? [0, 0];
  return layout.arrows.some(({ badge }, other) => other !== place && badge[0] === x && y - badge[1] === 28);
}

interface ArrowProps {
  number: number;
  carries: string | null;
  line: Line | undefined;
  below: boolean;
}

function ArrowDrawing({ number, carries, line, below }: ArrowProps) {
  if (!line) return null;
  const [x, y] = line.badge;
  const [first, second] = line.points;
  const upright = line.points.length === 2 && first?.[0] === second?.[0];
  return (
    <g>
      <polyline points={line.points.map((point) => point.join(",")).join(" ")} className={classes.arrow} />
      <polygon points={headOf(line.points)} className={classes.head} />
      <circle cx={x} cy={y} r={8} className={classes.badge} />
      <text x={x} y={y + 3.5} textAnchor="middle" className={classes.badgeText}>
        {number}
      </text>
      {carries !== null && (
        <text
          x={upright ? x + 14 : x}
          y={upright ? y + 4 : below ? y + 21 : y - 13}
          textAnchor={upright ? "start" : "middle"}
          className={classes.kind}
        >
          {carries}
        </text>
      )}
    </g>
  );
}

const HEAD_LENGTH = 7;
const HEAD_HALF = 4;

/** Return the corners of an arrow's head. */
function headOf(points: [number, number][]): string {
  const [x, y] = points.at(-1) ?? [0, 0];
  const [fromX, fromY] = points.at(-2) ?? [0, 0];
  const alongX = Math.sign(x - fromX);
  const alongY = Math.sign(y - fromY);
  const backX = x - HEAD_LENGTH * alongX;
  const backY = y - HEAD_LENGTH * alongY;
  return [
    `${x},${y}`,
    `${backX + HEAD_HALF * alongY},${backY + HEAD_HALF * alongX}`,
    `${backX - HEAD_HALF * alongY},${backY - HEAD_HALF * alongX}`,
  ].join(" ");
}

type Reading = PaperDiagram["boxes"][number]["readings"][number];

/** Return a run's number as text: 16, 7.9 states, 42 %. */
function readingText({ value, unit }: Pick<Reading, "value" | "unit">): string {
  if (typeof value === "string") return value;
  if (value === null) return short(value);
  if (unit === "share") return nearestPercent(value);
  if (isSize(unit)) return measured(value, unit);
  return short(value, unit);
}

/** Return the title of a box by its name. */
function titleOf({ boxes }: PaperDiagram, name: string): string {
  return boxes.find((box) => box.name === name)?.title ?? name;
}
