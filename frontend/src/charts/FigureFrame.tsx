import { Button, useComputedColorScheme } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { type QueryKey, useQuery, type UseQueryOptions } from "@tanstack/react-query";
import type { PlotlyHTMLElement } from "plotly.js";
import { type ReactNode, type RefObject, useEffect, useMemo, useRef, useState } from "react";
import { useLocation } from "react-router";
import { isNotFound, isUnknownMetric } from "@/api/problem";
import type { Figure } from "@/api/types";
import { outdatedMessage } from "@/ui/outdatedMessage";
import classes from "./charts.module.css";
import type { Zoom } from "./curveView";
import { embedAddress, hashOf } from "./embed";
import { FigureMenu, type Points } from "./FigureMenu";
import { hasUndrawable, roomOfBrokenNames, themed } from "./figureTheme";
import { Plot } from "./Plot";
import { bundleFor, loadPlotly, type PlotArea, type PlotlyLibrary } from "./plotly";
import { useVisible } from "./useVisible";

/** Files that the menu of a chart saves. A bare chart has no menu, as for readers of another site. */
type MenuProps =
  | { bare: true; file?: undefined; points?: undefined }
  | {
      bare?: boolean;
      /** Name of saved files without their extension. */
      file: string;
      points: () => Promise<Points>;
    };

interface FrameProps<Answer, Key extends QueryKey> {
  title: string;
  /** Name of the figure while it loads. */
  noun?: "chart" | "curve";
  /** Description of the title, on hover. */
  hint?: string;
  /** Accessible description of the chart. */
  label: string;
  query: UseQueryOptions<Answer, Error, Figure, Key>;
  /** The shown range of x, and a callback for a dragged one. */
  zoom: Zoom | null;
  onZoom: (zoom: Zoom | null) => void;
  xLog?: boolean;
  /** Charts of a page with the same linked axis show the same hovered position. */
  linkedAxis?: string;
  /** The zoom is kept while this value stays the same. */
  revision: string;
  legend: boolean;
  /** Show all names instead of scrolling a long legend. */
  wholeLegend?: boolean;
  height: number;
  /** Message in place of an empty figure. */
  empty?: string;
  /** Path of the page that shows only this chart. By default, it shows the figure at this address. */
  embed?: string;
  /** Content above the plot. Receives the area of the x axis. */
  overlay?: (area: PlotArea) => ReactNode;
}

type FigureFrameProps<Answer, Key extends QueryKey> = FrameProps<Answer, Key> & MenuProps;

/** Space for an overlay above the plot, in pixels. */
const OVERLAY_ROOM = 24;

/** A figure from the API with its title, fetched while it is visible and drawn in the theme's colors. */
export function FigureFrame<Answer, Key extends QueryKey>(props: FigureFrameProps<Answer, Key>) {
  const { title, query, zoom, revision, legend, wholeLegend = false, xLog = false } = props;
  const address = String(query.meta?.["figure"] ?? "");
  const frame = useRef<HTMLElement>(null);
  const [element, setElement] = useState<PlotlyHTMLElement | null>(null);
  const [area, setArea] = useState<PlotArea | null>(null);
  const anchor = `chart-${props.file?.toLowerCase() ?? "bare"}`;
  useScrollToAnchor(frame, anchor);
  const visible = useVisible(frame);
  const top = props.overlay ? OVERLAY_ROOM : undefined;
  const scheme = useComputedColorScheme("light");
  const { ref: canvas, width } = useElementSize();

  const answer = useQuery({ ...query, enabled: visible && query.enabled !== false });
  // Most figures need only the small bundle, so it is loaded before the figure is known.
  const bundle = answer.data ? bundleFor(answer.data) : "basic";
  const library = useQuery({
    queryKey: ["plotly", bundle],
    queryFn: () => loadPlotly(bundle),
    enabled: visible,
    staleTime: Infinity,
    gcTime: Infinity,
    structuralSharing: false,
  });

  const figure = useMemo(
    () => answer.data && themed(answer.data, { scheme, revision, legend, wholeLegend, top, width, zoom }),
    [answer.data, scheme, revision, legend, wholeLegend, top, width, zoom],
  );
  const shownAddress = answer.isPlaceholderData ? "another one" : address;
  const look = [shownAddress, scheme, revision, legend, wholeLegend, top, width, zoom].join(" ");
  const leavesOut = useMemo(() => answer.data !== undefined && hasUndrawable(answer.data), [answer.data]);
  const empty = answer.data?.data.length === 0 && zoom === null;
  const drawable = library.data && figure && !empty;
  const height = props.height + (figure ? roomOfBrokenNames(figure) : 0);

  return (
    <figure ref={frame} id={anchor} className={classes.frame} style={{ margin: 0 }}>
      <figcaption className={classes.head}>
        <span className={classes.title} title={props.hint}>
          {title}
        </span>
        <span className={classes.state} role="status">
          {stateWords(answer.isPlaceholderData, answer.data ? answer.error : null, leavesOut)}
        </span>
        {zoom && element && library.data && (
          <Button size="compact-xs" variant="subtle" onClick={() => resetZoom(library.data, element)}>
            Show all
          </Button>
        )}
        {!props.bare && (
          <FigureMenu
            title={title}
            file={props.file}
            points={props.points}
            figure={answer.data}
            address={address}
            embed={props.embed ?? embedAddress(address)}
            anchor={anchor}
            drawn={element}
            library={library.data}
          />
        )}
      </figcaption>
      <div ref={canvas} className={classes.canvas} style={{ height }}>
        {drawable && (
          <Plot
            library={library.data}
            figure={figure}
            look={look}
            label={props.label}
            xLog={xLog}
            linkedAxis={props.linkedAxis}
            onZoom={props.onZoom}
            onDrawn={setElement}
            onArea={props.overlay && setArea}
          />
        )}
        {drawable && area && props.overlay?.(area)}
        {!drawable && (
          <FigureWords
            problem={answer.error ?? library.error}
            empty={empty ? (props.empty ?? "No points yet. Points appear here while the runs train.") : null}
            noun={props.noun ?? "chart"}
            retry={() => void retry(answer, library)}
          />
        )}
      </div>
    </figure>
  );
}

function stateWords(loading: boolean, problem: Error | null, leavesOut: boolean): string {
  if (problem) return outdatedMessage(problem);
  if (loading) return "Still loading…";
  return leavesOut ? "log y hides values of 0 or less" : "";
}

function resetZoom(library: PlotlyLibrary, element: PlotlyHTMLElement): void {
  void library.relayout(element, { "xaxis.autorange": true, "yaxis.autorange": true });
}

async function retry(...queries: { isError: boolean; refetch: () => Promise<unknown> }[]): Promise<void> {
  await Promise.all(queries.filter((query) => query.isError).map((query) => query.refetch()));
}

interface FigureWordsProps {
  problem: Error | null;
  /** Message for a figure without data. */
  empty: string | null;
  /** Kind of figure, such as a chart. */
  noun: string;
  retry: () => void;
}

/** Message in place of a chart. */
function FigureWords({ problem, empty, noun, retry }: FigureWordsProps) {
  const never = isUnknownMetric(problem);
  return (
    <div className={classes.words}>
      {never && "No points: these runs ended without reporting this metric."}
      {empty}
      {!empty && !problem && `Loading the ${noun}…`}
      {!never && problem && (
        <>
          <span>The chart cannot be shown: {problem.message}</span>
          {!isNotFound(problem) && (
            <Button size="compact-sm" variant="default" onClick={retry}>
              Try again
            </Button>
          )}
        </>
      )}
    </div>
  );
}

/** Scroll to an element when it appears, if the address names its id. The page has loaded long before its charts. */
function useScrollToAnchor(element: RefObject<HTMLElement | null>, id: string): void {
  const { hash } = useLocation();
  const isNamed = hash === hashOf(id);
  useEffect(() => {
    if (isNamed) element.current?.scrollIntoView({ block: "center" });
  }, [isNamed, element]);
}
