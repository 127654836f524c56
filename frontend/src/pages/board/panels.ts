/** Changes of a board's panels. */

import { kindAt } from "@/api/figures";
import type { BoardPanel, FigureKind } from "@/api/types";
import { titleOf } from "@/charts/figureKind";
import { shortEnv } from "@/ui/format";

export const COLUMNS = 12;
export const MIN_HEIGHT = 120;
export const MAX_HEIGHT = 1_200;
export const HEIGHT_STEP = 40;
export const MAX_PANELS = 50;

const DEFAULT_RUNS = 20;

export const newKey = () => crypto.getRandomValues(new Uint32Array(1))[0]?.toString(36) ?? "0";

export function newPanel(figure: string, changes: Partial<BoardPanel> = {}): BoardPanel {
  const address = `/api/v1/figures/${figure}`;
  return {
    key: newKey(),
    title: "",
    address,
    filter: "",
    max_runs: DEFAULT_RUNS,
    columns: 6,
    height: 320,
    ...changes,
  };
}

/** Environments with a chart of their own on a new board. */
const MAX_ENVIRONMENTS = 4;

/** Return the filter of the runs of an environment. */
const ofEnvironment = (env: string) => `env = "${env.replace(/["\\]/g, "\\$&")}"`;

/** Return the filter of the first of several environments, whose returns do not share a scale. */
export const firstFilter = ([first, ...others]: readonly string[]) =>
  first !== undefined && others.length > 0 ? ofEnvironment(first) : "";

/**
 * Return the initial charts, of the newest runs of the project. Each environment has its own chart of returns.
 * The environments with the most runs come first.
 */
export function suggestedPanels(environments: readonly string[], kinds: readonly FigureKind[]): BoardPanel[] {
  if (environments.length < 2) return panelsOfRuns();
  const returns = environments.slice(0, MAX_ENVIRONMENTS).map((env) =>
    newPanel("percentiles?metric=episode/return&smoothing=0.6", {
      title: `Return · ${shortEnv(env)}`,
      filter: ofEnvironment(env),
    }),
  );
  const [, ...others] = panelsOfRuns({ filter: firstFilter(environments) });
  const first = shortEnv(environments[0] ?? "");
  return [
    ...returns,
    ...others.map((panel) => ({
      ...panel,
      title: `${titleOf(kindAt(kinds, panel.address), panel.address)} · ${first}`,
    })),
  ];
}

const panelsOfRuns = (changes: Partial<BoardPanel> = {}): BoardPanel[] => [
  newPanel("percentiles?metric=episode/return&smoothing=0.6", changes),
  newPanel("scatter?x=learning_rate&y=best_return&x_log=true", changes),
  newPanel("metric-by-metric?x_metric=train/entropy&y_metric=episode/return&smoothing=0.6", changes),
  newPanel("episode-histogram?runs=", changes),
];

/** Return the size that is nearest to this one within the limits. */
export function withSize(panel: BoardPanel, columns: number, height: number): BoardPanel {
  const clamp = (value: number, low: number, high: number) =>
    Math.min(Math.max(Math.round(value), low), high);
  return { ...panel, columns: clamp(columns, 1, COLUMNS), height: clamp(height, MIN_HEIGHT, MAX_HEIGHT) };
}

/** Move a panel to another place. */
export function movePanel(panels: readonly BoardPanel[], key: string, place: number): BoardPanel[] {
  const moved = panels.find((panel) => panel.key === key);
  const others = panels.filter((panel) => panel.key !== key);
  return moved ? [...others.slice(0, place), moved, ...others.slice(place)] : others;
}

/** Replace a panel by others: none to remove it, two to copy it. */
export function replacePanel(
  panels: readonly BoardPanel[],
  key: string,
  others: readonly BoardPanel[],
): BoardPanel[] {
  return panels.flatMap((panel) => (panel.key === key ? others : [panel]));
}
