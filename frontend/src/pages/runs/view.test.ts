import { describe, expect, it } from "vitest";
import { DEFAULT_VIEW, isFiltered, nextSort, paramsOf, queryOf, viewOf, withoutFilters } from "./view";

const FILTERED =
  "state=running&state=queued&env=ALE%2FPong-v5&tag=sweep&text=lr&archived=true&sort=-last_return";

describe("the view in the address", () => {
  it("survives the way there and back", () => {
    const view = viewOf(new URLSearchParams(`${FILTERED}&columns=state%2Cconfig.num_envs`));
    expect(view.state).toEqual(["running", "queued"]);
    expect(view.columns).toEqual(["state", "config.num_envs"]);
    expect(viewOf(paramsOf(view))).toEqual(view);
  });

  it("is empty for the view that everybody starts with", () => {
    expect(viewOf(new URLSearchParams())).toEqual(DEFAULT_VIEW);
    expect(paramsOf(DEFAULT_VIEW).toString()).toBe("");
  });

  it("leaves out states that do not exist, which the server would refuse", () => {
    expect(viewOf(new URLSearchParams("state=running&state=sleeping")).state).toEqual(["running"]);
  });

  it("keeps the choice of no columns apart from none chosen", () => {
    expect(viewOf(new URLSearchParams("columns=")).columns).toEqual([]);
    expect(viewOf(new URLSearchParams()).columns).toBeNull();
  });

  it("becomes the server's query without what only the page needs", () => {
    const query = queryOf(viewOf(new URLSearchParams(`${FILTERED}&columns=state`)), ["train/entropy"]);
    expect(query).toEqual({
      state: ["running", "queued"],
      algorithm: [],
      env: ["ALE/Pong-v5"],
      tag: ["sweep"],
      text: "lr",
      archived: true,
      sort: "-last_return",
      metric: ["train/entropy"],
    });
  });
});

it("clears every filter but neither sorting nor archive", () => {
  const cleared = withoutFilters(viewOf(new URLSearchParams(FILTERED)));
  expect(isFiltered(cleared)).toBe(false);
  expect(cleared.sort).toBe("-last_return");
  expect(cleared.archived).toBe(true);
});

it("sorts descending, then ascending, then newest first again", () => {
  expect(nextSort("-created_at", "step")).toBe("-step");
  expect(nextSort("-step", "step")).toBe("step");
  expect(nextSort("step", "step")).toBe("-created_at");
});
