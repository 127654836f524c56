import type { Paper, PaperItem, PaperItemSummary } from "@/api/types";

const cost = {
  runs: 50,
  steps: 4e9,
  frames: 16e9,
  seconds: null,
  concurrent_runs: 1,
  unmeasured: ["A3C on Pong"],
  estimated: [],
};

const summary: PaperItemSummary = {
  name: "figure-2",
  label: "Figure 2",
  title: "A3C's score by learning rate",
  runs: 50,
  frames: 16e9,
  studies: 0,
  unavailable_reason: null,
};

/** A paper with one figure that can be run. */
export function aPaper(changes: Partial<Paper> = {}): Paper {
  return {
    name: "a3c",
    title: "A3C",
    full_title: "Asynchronous Methods",
    authors: "Mnih and others",
    year: 2016,
    shows: "Many actor-learners.",
    items: [summary],
    ...changes,
  };
}

/** A figure of two parts, one of which is a substitute. */
export function aPaperItem(changes: Partial<PaperItem> = {}): PaperItem {
  return {
    ...summary,
    paper: "a3c",
    paper_title: "A3C",
    theirs: "Trained it on 16 cores.",
    ours: "Trains it here.",
    measures: "Mean return",
    differs: [{ what: "actor-learners", theirs: "threads", ours: "processes", why: "Python" }],
    settings: [{ field: "Value loss weight", paper: "", code: "0.5", ours: "0.25", why: "½ · 0.5" }],
    published: [
      {
        what: "A3C, 16 threads",
        value: 12.5,
        unit: "×",
        source: "A3C",
        table: "table 2",
        protocol: "time to a score",
      },
    ],
    unpublished: null,
    parts: [
      { name: "pong", title: "Pong", stands_in: false, cost, suggested_share: 0.1 },
      {
        name: "catch",
        title: "Catch",
        stands_in: true,
        cost: { ...cost, seconds: 7200, unmeasured: [] },
        suggested_share: 1,
      },
    ],
    substitute: null,
    started: [],
    panels: [],
    table: null,
    diagrams: [],
    speeds: [],
    height: 320,
    ...changes,
  };
}
