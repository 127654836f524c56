import type { Config, PlotlyHTMLElement } from "plotly.js";
import { useEffect, useRef } from "react";
import type { Zoom } from "./curveView";
import { type PlotlyFigure, zoomOf } from "./figureTheme";
import {
  followHighlight,
  linkHover,
  type PlotArea,
  plotAreaOf,
  type PlotlyLibrary,
  showHighlight,
} from "./plotly";
import classes from "./charts.module.css";

const CONFIG: Partial<Config> = { displayModeBar: false, doubleClick: "autosize", showTips: false };

interface PlotProps {
  library: PlotlyLibrary;
  /** A figure in the theme's colors. */
  figure: PlotlyFigure;
  /** Accessible description of the chart. */
  label: string;
  xLog: boolean;
  linkedAxis: string | undefined;
  onZoom: (zoom: Zoom | null) => void;
  /** Receives the drawn element, to save or reset it, and null after it is removed. */
  onDrawn: (element: PlotlyHTMLElement | null) => void;
  /** Receives the area of the x axis after each change. */
  onArea: ((area: PlotArea) => void) | undefined;
}

/** One figure, updated in place so that live updates keep the zoom. */
export function Plot({ library, figure, label, xLog, linkedAxis, onZoom, onDrawn, onArea }: PlotProps) {
  const box = useRef<HTMLDivElement>(null);
  const latest = useRef({ xLog, onZoom, onDrawn, onArea });

  useEffect(() => {
    latest.current = { xLog, onZoom, onDrawn, onArea };
  });

  useEffect(() => {
    if (box.current) void library.react(box.current, figure.data, figure.layout, CONFIG);
  }, [library, figure]);

  // Before the effect that purges the element on unmount, because that removes its methods.
  useEffect(() => {
    const element = box.current as unknown as PlotlyHTMLElement | null;
    return element && linkedAxis ? linkHover(library, element, `${linkedAxis} ${xLog}`) : undefined;
  }, [library, linkedAxis, xLog]);

  useEffect(() => {
    const element = box.current as unknown as PlotlyHTMLElement | null;
    if (!element) return;
    element.on("plotly_relayout", (change) => {
      const zoom = zoomOf({ ...change }, latest.current.xLog);
      if (zoom !== undefined) latest.current.onZoom(zoom);
    });
    element.on("plotly_afterplot", () => {
      const area = plotAreaOf(element);
      if (area) latest.current.onArea?.(area);
      showHighlight(element);
    });
    const endHighlight = followHighlight(element);
    latest.current.onDrawn(element);
    const { onDrawn: gone } = latest.current;
    const observer = new ResizeObserver(() => void library.Plots.resize(element));
    observer.observe(element);
    return () => {
      observer.disconnect();
      endHighlight();
      gone(null);
      library.purge(element);
    };
  }, [library]);

  return <div ref={box} className={classes.plot} role="img" aria-label={label} />;
}
