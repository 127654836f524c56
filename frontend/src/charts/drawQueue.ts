/**
 * Draws charts one per task, so that the page stays responsive. Live updates of all charts together get at most a
 * share of the time: a chart that takes long is drawn less often, and skips the versions between.
 */

/** The share of the time for live updates. */
const UPDATE_SHARE = 0.1;

type Draw = () => void;

/** Charts that are not drawn yet, or that the user changed, in their order. */
const urgent = new Map<object, Draw>();
/** Charts with new data. */
const updates = new Map<object, Draw>();
let timer: ReturnType<typeof setTimeout> | undefined;
/** The earliest time of the next update. */
let updatesFrom = 0;

/** Draw a chart soon, in place of its drawing that waits. An update keeps its place in the queue. */
export function drawSoon(chart: object, draw: Draw, isUpdate: boolean): void {
  const isUrgent = !isUpdate || urgent.has(chart);
  if (isUrgent) updates.delete(chart);
  (isUrgent ? urgent : updates).set(chart, draw);
  schedule();
}

/** Forget the drawing of a chart that is removed. */
export function cancelDrawing(chart: object): void {
  urgent.delete(chart);
  updates.delete(chart);
}

function schedule(): void {
  clearTimeout(timer);
  if (urgent.size > 0) timer = setTimeout(drawNext);
  else if (updates.size > 0) timer = setTimeout(drawNext, Math.max(0, updatesFrom - performance.now()));
}

function drawNext(): void {
  const queue = urgent.size > 0 ? urgent : updates;
  const [next] = queue;
  if (!next) return;
  const [chart, draw] = next;
  queue.delete(chart);
  const began = performance.now();
  try {
    draw();
  } finally {
    const took = performance.now() - began;
    updatesFrom = Math.max(updatesFrom, began) + took / UPDATE_SHARE;
    schedule();
  }
}
