import { queryOptions } from "@tanstack/react-query";
import { useState } from "react";
import type { Figure, FuturesSummary } from "@/api/types";
import type { Zoom } from "@/charts/curveView";
import { FigureFrame } from "@/charts/FigureFrame";

interface FuturesChartProps {
  of: FuturesSummary;
  title: string;
  label: string;
  legend?: boolean;
  figure: Figure;
  /** Id of the futures that are also drawn. */
  against?: number | undefined;
}

/** A small chart of futures, drawn from their result. */
export function FuturesChart({ of, title, label, legend = false, figure, against }: FuturesChartProps) {
  const [zoom, setZoom] = useState<Zoom | null>(null);
  return (
    <FigureFrame
      bare
      title={title}
      label={label}
      query={queryOptions({
        queryKey: ["futures-figure", of.id, title, against],
        queryFn: () => figure,
        staleTime: Infinity,
      })}
      zoom={zoom}
      onZoom={setZoom}
      revision={`${of.id} ${against ?? ""}`}
      legend={legend}
      height={260}
      empty="No finite returns to show."
    />
  );
}
