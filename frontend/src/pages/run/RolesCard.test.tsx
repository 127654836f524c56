import { screen } from "@testing-library/react";
import { beforeEach, expect, it, vi } from "vitest";
import { renderPage } from "@/testing/render";
import { aRun, rolesOn } from "@/testing/runs";
import { OverviewTab } from "./OverviewTab";

const roles = [
  ...rolesOn("sun (10.0.0.1)", "shard", [0]),
  ...rolesOn("sun (10.0.0.1)", "bundle", [0, 1], 1),
  ...rolesOn("moon (10.0.0.2)", "bundle", [2]),
];
beforeEach(() => {
  vi.spyOn(globalThis, "fetch").mockImplementation(() => Promise.resolve(Response.json([])));
});

const rolesCard = () => screen.findByRole("region", { name: "Roles" });

it("lists the roles of every host", async () => {
  renderPage(<OverviewTab run={aRun({ roles })} />);
  expect((await rolesCard()).textContent).toContain("4 roles on 2 hosts");
  const [moon, sun] = screen.getAllByRole("listitem").map((host) => host.textContent);
  expect(moon).toBe("moon (10.0.0.2)Bundle2");
  expect(sun).toBe("sun (10.0.0.1)Parameter shard0Bundles0–1Replaced: bundles 0–1 once");
});

it("says where the roles of a finished run were", async () => {
  renderPage(<OverviewTab run={aRun({ roles, state: "finished" })} />);
  expect((await rolesCard()).textContent).toContain("4 roles were last on 2 hosts");
});

it("is hidden for a run without roles", async () => {
  renderPage(<OverviewTab run={aRun()} />);
  expect(await screen.findByRole("region", { name: "About this run" })).toBeTruthy();
  expect(screen.queryByRole("region", { name: "Roles" })).toBeNull();
});
