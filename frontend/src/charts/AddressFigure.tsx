import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { figureAtQuery, partsOf, runsAt } from "@/api/figures";
import type { Zoom } from "./curveView";
import { axisOf, zoomedAddress } from "./figureAxis";
import { FigureFrame } from "./FigureFrame";
import { titleOf } from "./figureTitle";
import { DRAWN_HEADER, drawnRows } from "./points";
import { useZoom } from "./useZoom";

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
export function AddressFigure(props: AddressFigureProps) {
  const [zoom, setZoom] = useState<Zoom | null>(null);
  return <ZoomedFigure {...props} zoom={zoom} onZoom={setZoom} />;
}

/** The figure at an address of the API. It shares zoom and hover with the figures of the page that have its x axis. */
export function LinkedFigure(props: AddressFigureProps) {
  const axis = axisOf(props.address);
  const [zoom, setZoom] = useZoom(hasLogAxis(props.address), axis);
  return <ZoomedFigure {...props} zoom={zoom} onZoom={setZoom} linkedAxis={axis} />;
}

interface ZoomedFigureProps extends AddressFigureProps {
  zoom: Zoom | null;
  onZoom: (zoom: Zoom | null) => void;
  linkedAxis?: string;
}

function ZoomedFigure({ address, title, height, embed, bare, zoom, onZoom, linkedAxis }: ZoomedFigureProps) {
  const query = figureAtQuery(zoomedAddress(address, zoom), runsAt(address));
  const figure = useQuery({ ...query, enabled: false }).data;
  const shown = title || titleOf(address, figure);
  return (
    <FigureFrame
      title={shown}
      label={shown}
      query={query}
      zoom={zoom}
      onZoom={onZoom}
      xLog={hasLogAxis(address)}
      linkedAxis={linkedAxis}
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

const hasLogAxis = (address: string) => partsOf(address).query.get("x_log") === "true";

/** Messages for empty figures, for those that lack something other than points. */
const EMPTY_WORDS: Partial<Record<string, string>> = {
  "figures/action-shares":
    "No actions to count yet. They come from the replays that a run records with its checkpoints.",
  "figures/scatter": "None of these runs has both values yet. Choose other values, or wait for results.",
  "figures/episode-histogram": "No finished episodes yet.",
};
