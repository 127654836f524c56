import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it } from "vitest";
import type { Account } from "@/api/types";
import { renderPage } from "@/testing/render";
import { refusal, serve, type Answer } from "@/testing/server";
import DevicePage from "./DevicePage";

const account: Account = {
  person: {
    id: 1,
    name: "Ana",
    email: "ana@example.org",
    is_administrator: false,
    disabled: false,
    has_password: true,
    created_at: "2026-01-01T10:00:00Z",
    last_seen_at: null,
    roles: [],
  },
  is_administrator: false,
  can_create_first: false,
  fresh_until: null,
  proofs: ["password"],
  max_token_days: 365,
  has_role: true,
  administrators: [],
  session_id: 1,
};
const login = {
  name: "ana@laptop",
  address: "10.0.0.7",
  scopes: ["read", "write", "worker"],
  created_at: "2026-01-01T10:00:00Z",
  expires_at: "2026-01-01T10:10:00Z",
};

beforeEach(() => void (window.location.hash = ""));

function open(answers: Record<string, Answer> = {}, code = "") {
  window.location.hash = code;
  const server = serve({
    "GET /account": account,
    "GET /projects": [],
    "POST /account/device": login,
    ...answers,
  });
  renderPage(<DevicePage />, { at: "/device", path: "/device" });
  return server;
}

it("shows who asks, and confirms what the person chooses", async () => {
  const server = open(
    { "POST /account/device/confirm": () => new Response(null, { status: 204 }) },
    "BCDF-GHJK",
  );
  expect(await screen.findByText("ana@laptop")).toBeTruthy();
  expect(screen.getByText("10.0.0.7")).toBeTruthy();
  expect(screen.getByText("BCDF-GHJK")).toBeTruthy();
  // Only administrators can give the scope of workers.
  expect(screen.queryByRole("checkbox", { name: "Worker" })).toBeNull();
  await userEvent.click(screen.getByRole("checkbox", { name: "Write" }));
  await userEvent.selectOptions(screen.getByRole("combobox", { name: "Expires" }), "in 7 days");
  await userEvent.click(screen.getByRole("button", { name: "Confirm login" }));
  expect(await screen.findByRole("heading", { name: "Login confirmed" })).toBeTruthy();
  expect(server.of("POST /account/device/confirm")[0]?.body).toEqual({
    code: "BCDF-GHJK",
    scopes: ["read"],
    project: null,
    days: 7,
  });
});

it("takes a typed code, and refuses the login", async () => {
  const server = open({ "POST /account/device/refuse": () => new Response(null, { status: 204 }) });
  await userEvent.type(await screen.findByRole("textbox", { name: "Code" }), "bcdfghjk{Enter}");
  expect(await screen.findByText("BCDF-GHJK")).toBeTruthy();
  await userEvent.click(screen.getByRole("button", { name: "Refuse" }));
  expect(await screen.findByRole("heading", { name: "Login refused" })).toBeTruthy();
  expect(server.of("POST /account/device/refuse")[0]?.body).toEqual({ code: "bcdfghjk" });
});

it("says that a code is wrong, and lets the person type another one", async () => {
  open({ "POST /account/device": () => refusal(404, "No login waits with this code.") }, "ZZZZ-ZZZZ");
  expect(await screen.findByText("No login waits with this code.")).toBeTruthy();
  expect(screen.getByRole<HTMLInputElement>("textbox", { name: "Code" }).value).toBe("ZZZZ-ZZZZ");
});

it("needs an account", async () => {
  open({ "GET /account": { ...account, person: null } });
  expect(await screen.findByText("You have no account here")).toBeTruthy();
});
