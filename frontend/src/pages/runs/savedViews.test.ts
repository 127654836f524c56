import { describe, expect, it } from "vitest";
import type { SavedView } from "@/api/types";
import { findView, isViewLink, openedParams, queryToSave } from "./useSavedViews";

const aView = (id: number, name: string, query = ""): SavedView => ({
  id,
  name,
  query,
  project: "Main",
  created_at: "2026-01-01T00:00:00Z",
  updated_at: "2026-01-01T00:00:00Z",
  may_edit: true,
});

describe("a saved view", () => {
  it("stores the URL without project, zoom and view, and what the URL leaves out", () => {
    const params = new URLSearchParams("view=3&sort=name&project=Maze&zoom=1:2&env=Pong&columns=name");
    expect(queryToSave(params, { columns: "name,state", charts: "" })).toBe(
      "charts=&columns=name&env=Pong&sort=name",
    );
  });

  it("is opened with its id, in the same project", () => {
    const opened = openedParams(aView(3, "Best", "sort=name"), new URLSearchParams("project=Maze&env=Pong"));
    expect(opened.toString()).toBe("sort=name&project=Maze&view=3");
  });

  it("is found by id or by name", () => {
    const views = [aView(1, "Best"), aView(2, "3")];
    expect(findView(views, "1")?.name).toBe("Best");
    expect(findView(views, " best")?.id).toBe(1);
    expect(findView(views, "3")?.id).toBe(2);
    expect(findView(views, "4")).toBeUndefined();
  });

  it("has a link with nothing but its name", () => {
    expect(isViewLink(new URLSearchParams("view=Best&project=Main"))).toBe(true);
    expect(isViewLink(new URLSearchParams("view=Best&sort=name"))).toBe(false);
    expect(isViewLink(new URLSearchParams("project=Main"))).toBe(false);
  });
});
