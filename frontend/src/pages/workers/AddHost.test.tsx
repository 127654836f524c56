import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it } from "vitest";
import { renderPage } from "@/testing/render";
import { serve } from "@/testing/server";
import { AddHost } from "./AddHost";

const COMMANDS = [
  "python3 -m venv",
  "pip install",
  "arcadia worker join https://a.host join_1",
  "arcadia worker",
];

function open(isAdministrator: boolean, hasPackage = true) {
  const token = { id: 3, name: "sun", person: null, scopes: ["worker"], project: null, revoked_at: null };
  const times = {
    created_at: "2026-01-01T10:00:00Z",
    last_used_at: null,
    last_address: "10.0.0.7",
    expires_at: null,
  };
  const ofPerson = { ...token, ...times, id: 4, name: "script", person: { id: 1, name: "Ada" } };
  const server = serve({
    "GET /account": { is_administrator: isAdministrator },
    "GET /tokens": [{ ...token, ...times }, ofPerson],
    "POST /host-codes": {
      code: "join_1",
      expires_at: new Date(Date.now() + 600_000).toISOString(),
      commands: COMMANDS,
      has_package: hasPackage,
    },
    "DELETE /tokens/3": {},
  });
  renderPage(<AddHost />);
  return server;
}

describe("adding a host", () => {
  it("shows commands with a code that works once", async () => {
    const server = open(true);
    await userEvent.click(await screen.findByRole("button", { name: "Add a host" }));
    expect(await screen.findByText("arcadia worker join https://a.host join_1")).toBeTruthy();
    expect(screen.getByText("The code works once, for 10 more minutes.")).toBeTruthy();
    expect(screen.getAllByRole("button", { name: "Copy command" })).toHaveLength(4);
    expect(screen.queryByText(/make wheel/)).toBeNull();
    await userEvent.click(screen.getByRole("button", { name: "Create another code" }));
    expect(server.of("POST /host-codes")).toHaveLength(2);
  });

  it("says how the server can offer the package", async () => {
    open(true, false);
    await userEvent.click(await screen.findByRole("button", { name: "Add a host" }));
    expect(await screen.findByText("make wheel")).toBeTruthy();
  });

  it("lists the hosts that have joined, whose tokens can be revoked", async () => {
    const server = open(true);
    expect(await screen.findByText("sun")).toBeTruthy();
    expect(screen.queryByText("script")).toBeNull();
    await userEvent.click(screen.getByRole("button", { name: "Revoke the token of sun" }));
    await waitFor(() => expect(server.of("DELETE /tokens/3")).toHaveLength(1));
  });

  it("is for administrators", async () => {
    const server = open(false);
    expect(await screen.findByText(/Administrators of the installation add hosts/)).toBeTruthy();
    expect(screen.queryByRole("button")).toBeNull();
    expect(server.of("GET /tokens")).toEqual([]);
  });
});
