import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { figureAtQuery, partsOf, runsAt } from "@/api/figures";
import type { Zoom } from "./curveView";
import { FigureFrame } from "./FigureFrame";
import { titleOf } from "./figureTitle";
import { DRAWN_HEADER, drawnRows } from "./points";

/** Plotly fails if the legend leaves no room for the plot. */
const MIN_HEIGHT_WITH_LEGEND = 220;

interface AddressFigureProps {
  /** API address of the figure, with its runs. */
  address: string;
  /** Title, if it is not the one of the figure. */
  title?: string;
  height: number;
  embed?: string;
  bare?: boolean;
}

/** The figure at an address of the API. It follows its runs while they train. */
export function AddressFigure({ address, title, height, embed, bare }: AddressFigureProps) {
  const [zoom, setZoom] = useState<Zoom | null>(null);
  const query = figureAtQuery(address, runsAt(address));
  const figure = useQuery({ ...query, enabled: false }).data;
  const shown = title || titleOf(address, figure);
  return (
    <FigureFrame
      title={shown}
      label={shown}
      query={query}
      zoom={zoom}
      onZoom={setZoom}
      xLog={partsOf(address).query.get("x_log") === "true"}
      revision={address}
      legend={height >= MIN_HEIGHT_WITH_LEGEND && figure?.layout["showlegend"] !== false}
      height={height}
      empty={EMPTY_WORDS[partsOf(address).path]}
      file={shown.replaceAll(/\W+/g, "-").toLowerCase()}
      embed={embed}
      bare={bare}
      points={() => Promise.resolve({ header: DRAWN_HEADER, rows: figure ? drawnRows(figure) : [] })}
    />
  );
}

/** What an empty figure lacks, if it is more than points. */
const EMPTY_WORDS: Partial<Record<string, string>> = {
  "figures/action-shares":
    "No actions to count yet. They come from the replays that a run records with its checkpoints.",
  "figures/scatter": "None of these runs has both values yet. Choose other values, or wait for results.",
  "figures/episode-histogram": "No finished episodes yet.",
};
