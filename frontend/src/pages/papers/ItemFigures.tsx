import { SegmentedControl, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { paperFigureQuery } from "@/api/papers";
import type { PaperItem, PaperPanel } from "@/api/types";
import { FigureFrame } from "@/charts/FigureFrame";
import { DRAWN_HEADER, drawnRows } from "@/charts/points";
import { lowerCaseLabel } from "@/ui/format";
import classes from "./papers.module.css";

/** Charts of our runs over the paper's results, for one share of the budget. */
export function ItemFigures({ item }: { item: PaperItem }) {
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
