import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { figureAtQuery, partsOf, runsAt } from "@/api/figures";
import type { Zoom } from "./curveView";
import { FigureFrame } from "./FigureFrame";
import { axisOf, titleOf, useFigureKind, zoomedAddress } from "./figureKind";
import { DRAWN_HEADER, drawnRows } from "./points";
import { useZoom } from "./useCurveView";

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
  const axis = axisOf(useFigureKind(props.address), props.address);
  const [zoom, setZoom] = useZoom(hasLogAxis(props.address), axis);
  return <ZoomedFigure {...props} zoom={zoom} onZoom={setZoom} linkedAxis={axis} />;
}

interface ZoomedFigureProps extends AddressFigureProps {
  zoom: Zoom | null;
  onZoom: (zoom: Zoom | null) => void;
  linkedAxis?: string;
}

function ZoomedFigure({ address, title, height, embed, bare, zoom, onZoom, linkedAxis }: ZoomedFigureProps) {
  const kind = useFigureKind(address);
  const query = figureAtQuery(zoomedAddress(kind, address, zoom), runsAt(address));
  const figure = useQuery({ ...query, enabled: false }).data;
  const shown = title || titleOf(kind, address, figure);
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
      empty={kind?.empty ?? undefined}
      file={shown.replaceAll(/\W+/g, "-").toLowerCase()}
      embed={embed}
      bare={bare}
      points={() => Promise.resolve({ header: DRAWN_HEADER, rows: figure ? drawnRows(figure) : [] })}
    />
  );
}

const hasLogAxis = (address: string) => partsOf(address).query.get("x_log") === "true";
