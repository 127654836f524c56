import type { QueryKey } from "@tanstack/react-query";
import { aliasKeys } from "../aliases";
import { artifactKeys } from "../artifacts";
import { boardKeys } from "../boards";
import { calibrationKeys } from "../calibrations";
import { changeKeys } from "../changes";
import { checkpointKeys } from "../checkpoints";
import { diagnosisKeys } from "../diagnosis";
import { evaluationKeys } from "../evaluations";
import { gameKeys } from "../games";
import { liveGameKeys } from "../liveGames";
import { markKeys } from "../marks";
import { mediaKeys } from "../media";
import { metricKeys } from "../metrics";
import { paperKeys } from "../papers";
import { KEYS_BY_PROJECT, projectKeys } from "../projects";
import { recordingKeys } from "../recordings";
import { replayKeys } from "../replays";
import { runKeys } from "../runs";
import { studyKeys } from "../studies";
import { workerKeys } from "../workers";
import { type JobNotice } from "../jobs";
import { startSetKeys } from "../startSets";
import type { LiveEvent } from "./events";

/** Minimum interval between two fetches of any query. */
export const REFRESH_MS = 1000;
/** Lists and comparisons are large; list rows are patched one by one in between. */
export const LIST_REFRESH_MS = 2000;
/** Filter values, metric names, game scores and papers seldom change. */
export const SELDOM_REFRESH_MS = 10_000;

/** Queries that an event made stale, and the minimum interval between two fetches of them. */
export interface Stale {
  queryKey: QueryKey;
  interval: number;
}

export const STALE_LISTS: Stale = { queryKey: runKeys.lists, interval: LIST_REFRESH_MS };
export const STALE_FACETS: Stale = { queryKey: runKeys.allFacets, interval: SELDOM_REFRESH_MS };

const GAMES: Stale = { queryKey: gameKeys.all, interval: SELDOM_REFRESH_MS };
const PAPERS: Stale = { queryKey: paperKeys.all, interval: SELDOM_REFRESH_MS };
const STUDIES: Stale = { queryKey: studyKeys.all, interval: LIST_REFRESH_MS };

const PROJECTS: Stale = { queryKey: projectKeys.all, interval: SELDOM_REFRESH_MS };

/** Runs that the filters of a board select. */
const SELECTED: Stale = { queryKey: boardKeys.allSelected, interval: LIST_REFRESH_MS };
const SELECTED_SELDOM: Stale = { ...SELECTED, interval: SELDOM_REFRESH_MS };

/** Queries whose results are computed from all runs. */
const OF_RUNS = [SELECTED, GAMES, PAPERS, PROJECTS];

const soon = (...keys: QueryKey[]): Stale[] => keys.map((queryKey) => ({ queryKey, interval: 0 }));

/** Return the queries that an event makes stale, besides those that show only some runs (refresh.ts). */
export function staleAfter(event: Exclude<LiveEvent, { kind: "refetch" }>): Stale[] {
  switch (event.kind) {
    case "run.changed":
      return [{ queryKey: changeKeys.list(event.run_id), interval: LIST_REFRESH_MS }, ...OF_RUNS];
    case "run.removed":
      return [...soon(runKeys.detail(event.run_id), artifactKeys.all), STALE_LISTS, STALE_FACETS, ...OF_RUNS];
    case "run.metrics":
      return [
        { queryKey: metricKeys.names(event.run_id), interval: SELDOM_REFRESH_MS },
        { queryKey: markKeys.list(event.run_id), interval: SELDOM_REFRESH_MS },
        { queryKey: diagnosisKeys.list(event.run_id), interval: SELDOM_REFRESH_MS },
        { queryKey: metricKeys.allSparklines, interval: SELDOM_REFRESH_MS },
        SELECTED_SELDOM,
      ];
    case "run.log":
      return []; // The log tab listens to this event itself.
    case "alerts.changed":
      return []; // The bell listens to this event itself, also in a hidden tab.
    case "artifacts.changed":
      return [{ queryKey: artifactKeys.all, interval: LIST_REFRESH_MS }, PROJECTS];
    case "import.progress":
      return []; // The button of the examples listens to this event itself.
    case "run.files":
      return [
        ...soon(
          aliasKeys.all,
          checkpointKeys.list(event.run_id),
          replayKeys.list(event.run_id),
          markKeys.list(event.run_id),
          recordingKeys.list(event.run_id),
          mediaKeys.all(event.run_id),
          // A checkpoint of a new attempt supersedes evaluations of an earlier one.
          evaluationKeys.ofRun(event.run_id),
          calibrationKeys.ofRun(event.run_id),
        ),
        GAMES,
      ];
    case "job.changed":
      return staleAfterJob(event.job);
    case "play.changed":
      return [...soon(liveGameKeys.allPlayed), GAMES];
    case "worker.changed":
      return [
        ...soon(workerKeys.all, workerKeys.health),
        { queryKey: runKeys.allForecasts, interval: LIST_REFRESH_MS },
      ];
    case "study.changed":
    case "study.removed":
      return [STUDIES, PAPERS, PROJECTS];
    case "board.changed":
      return soon(boardKeys.detail(event.project_id), boardKeys.allPanels);
    case "projects.changed":
      return soon(...KEYS_BY_PROJECT);
  }
}

/** Return the queries that a new or ended job makes stale, besides those that show the job. */
function staleAfterJob({ kind, run_id, state }: JobNotice): Stale[] {
  const run = run_id ?? 0;
  if (kind === "live") return soon(liveGameKeys.ofRun(run));
  if (state === "running") return [];
  switch (kind) {
    case "evaluation":
      return [
        ...soon(evaluationKeys.ofRun(run), checkpointKeys.list(run), aliasKeys.all, markKeys.list(run)),
        GAMES,
        PAPERS,
        // Evaluations are part of a study's statistics over its games.
        STUDIES,
      ];
    case "calibration":
      return [...soon(calibrationKeys.ofRun(run)), PAPERS];
    case "saliency":
      return soon(replayKeys.list(run)); // A replay has whether its saliency was requested.
    case "start_points":
      return soon(startSetKeys.all);
    default:
      return []; // Only queries that show the job, or of the files and games that other events announce.
  }
}
