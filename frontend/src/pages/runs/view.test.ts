import { describe, expect, it } from "vitest";
import { DEFAULT_VIEW, isFiltered, toParams, toListQuery, parseView, clearFilters } from "./view";

const FILTERED =
  "state=running&state=queued&env=ALE%2FPong-v5&tag=sweep&text=lr&filter=return+%3E+15&archived=true&sort=-last_return";

describe("the view in the URL", () => {
  it("round-trips", () => {
    const view = parseView(new URLSearchParams(`${FILTERED}&columns=state%2Cconfig.num_envs`));
    expect(view.state).toEqual(["running", "queued"]);
    expect(view.columns).toEqual(["state", "config.num_envs"]);
    expect(parseView(toParams(view))).toEqual(view);
  });

  it("is empty for the default view", () => {
    expect(parseView(new URLSearchParams())).toEqual(DEFAULT_VIEW);
    expect(toParams(DEFAULT_VIEW).toString()).toBe("");
  });

  it("drops unknown states, which the server would refuse", () => {
    expect(parseView(new URLSearchParams("state=running&state=sleeping")).state).toEqual(["running"]);
  });

  it("distinguishes no columns from no choice of columns", () => {
    expect(parseView(new URLSearchParams("columns=")).columns).toEqual([]);
    expect(parseView(new URLSearchParams()).columns).toBeNull();
  });

  it("becomes the query of the run list", () => {
    const view = parseView(new URLSearchParams(`${FILTERED}&columns=state`));
    const query = toListQuery(view, "maze", {
      metric: ["train/entropy"],
      include: ["config.seed"],
      compute: [],
    });
    expect(query).toEqual({
      state: ["running", "queued"],
      algorithm: [],
      env: ["ALE/Pong-v5"],
      tag: ["sweep"],
      project: ["maze"],
      origin: [],
      text: "lr",
      filter: "return > 15",
      archived: true,
      sort: "-last_return",
      metric: ["train/entropy"],
      include: ["config.seed"],
      compute: [],
    });
  });
});

it("clears every filter but keeps the sort order and the archive", () => {
  const cleared = clearFilters(parseView(new URLSearchParams(FILTERED)));
  expect(isFiltered(cleared)).toBe(false);
  expect(cleared.sort).toBe("-last_return");
  expect(cleared.archived).toBe(true);
});

it("keeps the origin and columns of metrics with commas in the URL", () => {
  const params = new URLSearchParams({ columns: 'name,"metric.loss, mean.last"' });
  params.append("origin", "reported");
  params.append("origin", "unknown");
  const view = parseView(params);
  expect(view).toMatchObject({ origin: ["reported"] });
  expect(view.columns).toEqual(["name", "metric.loss, mean.last"]);
  expect(parseView(toParams(view))).toEqual(view);
});
