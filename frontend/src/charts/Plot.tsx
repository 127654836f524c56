import type { Config, PlotlyHTMLElement } from "plotly.js";
import { useEffect, useRef, useState } from "react";
import type { Zoom } from "./curveView";
import { cancelDrawing, drawSoon } from "./drawQueue";
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
  /** Changes when the figure shows something else, and not only new data. */
  look: string;
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
export function Plot(props: PlotProps) {
  const { library, figure, look, label, xLog, linkedAxis, onZoom, onDrawn, onArea } = props;
  const box = useRef<HTMLDivElement>(null);
  const drawn = useRef<{ figure: PlotlyFigure; look: string } | null>(null);
  // Plotly adds the methods of its events with the first drawing.
  const [isDrawn, setDrawn] = useState(false);
  const latest = useRef({ xLog, onZoom, onDrawn, onArea });

  useEffect(() => {
    latest.current = { xLog, onZoom, onDrawn, onArea };
  });

  useEffect(() => {
    const target = box.current;
    if (!target) return;
    const draw = () => {
      const isSame = drawn.current?.figure === figure;
      drawn.current = { figure, look };
      if (isSame) return;
      void library.react(target, figure.data, figure.layout, CONFIG);
      setDrawn(true);
    };
    drawSoon(target, draw, drawn.current?.look === look);
  }, [library, figure, look]);

  useEffect(() => {
    const target = box.current;
    return () => {
      if (target) cancelDrawing(target);
    };
  }, []);

  // Before the effect that purges the element on unmount, because that removes its methods.
  useEffect(() => {
    const element = isDrawn ? (box.current as unknown as PlotlyHTMLElement | null) : null;
    return element && linkedAxis ? linkHover(library, element, `${linkedAxis} ${xLog}`) : undefined;
  }, [isDrawn, library, linkedAxis, xLog]);

  useEffect(() => {
    const element = isDrawn ? (box.current as unknown as PlotlyHTMLElement | null) : null;
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
    // The first drawing was before.
    const area = plotAreaOf(element);
    if (area) latest.current.onArea?.(area);
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
  }, [isDrawn, library]);

  return <div ref={box} className={classes.plot} role="img" aria-label={label} />;
}
