/** Changes of a board's panels. */

import type { BoardPanel } from "@/api/types";

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

/** Initial charts, of the newest runs of the project. */
export const suggestedPanels = (): BoardPanel[] => [
  newPanel("percentiles?metric=episode/return&smoothing=0.6"),
  newPanel("scatter?x=learning_rate&y=best_return&x_log=true"),
  newPanel("metric-by-metric?x_metric=train/entropy&y_metric=episode/return&smoothing=0.6"),
  newPanel("episode-histogram?runs="),
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
