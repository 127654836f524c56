import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it } from "vitest";
import type { Account, Person } from "@/api/types";
import { renderPage } from "@/testing/render";
import { done, refusal, serve, type Answer } from "@/testing/server";
import SettingsPage from "./SettingsPage";

const ana: Person = {
  id: 1,
  name: "Ana",
  email: "ana@example.org",
  is_administrator: true,
  disabled: false,
  has_password: true,
  created_at: "2026-01-01T10:00:00Z",
  last_seen_at: null,
  roles: [],
};
const bea: Person = {
  ...ana,
  id: 2,
  name: "Bea",
  email: "bea@example.org",
  is_administrator: false,
  roles: [{ project_id: 2, project: "Maze", role: "viewer", group: "Lab" }],
};
const accountOf = (person: Person | null): Account => ({
  person,
  is_administrator: person?.is_administrator ?? true,
  can_create_first: person === null,
  has_role: true,
  administrators: [],
  session_id: 1,
  fresh_until: null,
  proofs: ["password"],
  max_token_days: 60,
});

function open(person: Person | null, answers: Record<string, Answer> = {}, at = "/settings") {
  const server = serve({ "GET /account": accountOf(person), "GET /projects": [], ...answers });
  renderPage(<SettingsPage />, { at, path: "/settings/:tab?" });
  return server;
}

it("offers the first account where nobody signs in", async () => {
  const server = open(null, {
    "POST /people/first": () =>
      refusal(422, "password", [{ field: "password", message: "must have at least 12 characters" }]),
  });
  await userEvent.click(await screen.findByRole("button", { name: "Create the first account" }));
  await userEvent.type(screen.getByRole("textbox", { name: "Name" }), "Ana");
  await userEvent.type(screen.getByRole("textbox", { name: "E-mail address" }), "ana@example.org");
  await userEvent.type(screen.getByLabelText(/^Password/, { selector: "input" }), "short{Enter}");
  expect(await screen.findByText("Must have at least 12 characters.")).toBeTruthy();
  expect(server.of("POST /people/first")[0]?.body).toEqual({
    name: "Ana",
    email: "ana@example.org",
    password: "short",
  });
});

it("shows people and the audit log only to those who may open them", async () => {
  open(bea);
  expect(await screen.findByText(/viewer of/)).toBeTruthy();
  expect(screen.getByText(/by group Lab/)).toBeTruthy();
  expect(screen.getAllByRole("tab").map((tab) => tab.textContent)).toEqual(["Account", "Tokens", "Sessions"]);
});

it("invites several people, and shows each link once, with the server's address", async () => {
  const invitations = ["Bea", "Cy Berg"].map((name, index) => ({
    person: { id: index + 2, name },
    email: `${index}@example.org`,
    path: `/welcome#secret${index}`,
    expires_at: "2026-01-08T10:00:00Z",
  }));
  const server = open(
    ana,
    { "GET /people": [ana, bea], "POST /people": invitations, "GET /projects": [] },
    "/settings/people",
  );
  await userEvent.click(await screen.findByRole("button", { name: "Invite people" }));
  const dialog = await screen.findByRole("dialog", { name: "Invite people" });
  const field = within(dialog).getByRole("textbox", { name: "People" });
  const submit = within(dialog).getByRole("button", { name: "Create links" });
  await userEvent.type(field, "bea@example.org{Enter}Cy Berg");
  await userEvent.click(submit);
  expect(within(dialog).getByText("“Cy Berg” has no e-mail address.")).toBeTruthy();
  expect(server.of("POST /people")).toEqual([]);
  await userEvent.type(field, ", <cy@example.org>{Enter}");
  await userEvent.click(submit);
  for (const [index, name] of ["Bea", "Cy Berg"].entries()) {
    const link = await screen.findByRole<HTMLInputElement>("textbox", { name: `Link for ${name}` });
    expect(link.value).toBe(`${window.location.origin}/welcome#secret${index}`);
  }
  expect(screen.getByRole("button", { name: "Copy all" })).toBeTruthy();
  expect(server.of("POST /people")[0]?.body).toEqual({
    people: [
      { name: "bea", email: "bea@example.org" },
      { name: "Cy Berg", email: "cy@example.org" },
    ],
    is_administrator: false,
    role: "editor",
  });
});

it("offers no lifetime of a token that is longer than the server allows", async () => {
  open(ana, { "GET /tokens": [] }, "/settings/tokens");
  await userEvent.click(await screen.findByRole("button", { name: "Create token" }));
  const lifetimes = await screen.findByRole<HTMLSelectElement>("combobox", { name: "Expires" });
  expect([...lifetimes.options].map(({ label }) => label)).toEqual(["in 7 days", "in 30 days", "in 60 days"]);
  expect(lifetimes.value).toBe("60");
});

it("revokes all tokens after a question", async () => {
  const server = open(ana, { "GET /tokens": [], "DELETE /tokens": done }, "/settings/tokens");
  await userEvent.click(await screen.findByRole("button", { name: "Revoke all tokens" }));
  const dialog = await screen.findByRole("dialog", { name: "Revoke all of your tokens?" });
  expect(server.of("DELETE /tokens")).toEqual([]);
  await userEvent.click(within(dialog).getByRole("button", { name: "Revoke all tokens" }));
  expect(await screen.findByText("Your tokens are revoked.")).toBeTruthy();
  expect(server.of("DELETE /tokens")).toHaveLength(1);
});

it("offers no password to people who sign in without one", async () => {
  open({ ...bea, has_password: false });
  expect(await screen.findByText(/You sign in without a password/)).toBeTruthy();
  expect(screen.queryByLabelText(/New password/)).toBeNull();
});
const entry = {
  id: 5,
  at: "2026-01-01T10:00:00Z",
  person_id: 2,
  name: "Bea",
  token_id: null,
  address: "10.0.0.7",
  action: "stop",
  kind: "run",
  object_id: "3",
  object_name: "Pong",
  project_id: 7,
  before: { desired: "run", name: "Pong" },
  after: { desired: "stop", name: "Pong 2" },
};
const facets = {
  kinds: ["group", "run"],
  actions: ["start", "stop"],
  people: [
    { id: 1, name: "Ana", email: "ana@example.org" },
    { id: 2, name: "Bea", email: "bea@example.org" },
  ],
  projects: [{ id: 7, name: "Maze" }],
};
const log = { "GET /audit/facets": facets, "GET /audit": { items: [entry], next_before: null } };

it("filters the audit log, and exports what it shows", async () => {
  const server = open(ana, log, "/settings/audit");
  const row = within(await screen.findByRole("row", { name: /Bea.*Stop run Pong/ }));
  expect(row.getByRole("link", { name: "Pong" }).getAttribute("href")).toBe("/runs/3");
  expect(row.getByText("Pong", { selector: "del" })).toBeTruthy();
  expect(row.getByText("Pong 2", { selector: "ins" })).toBeTruthy();
  const choose = (name: string, option: string) =>
    userEvent.selectOptions(screen.getByRole("combobox", { name }), option);
  const options = within(screen.getByRole("combobox", { name: "Action" })).getAllByRole("option");
  expect(options.map((option) => option.textContent)).toEqual(["All actions", "Start", "Stop"]);
  await choose("Person", "Bea");
  await choose("Project", "Maze");
  await choose("Action", "Stop");
  await choose("Object", "Run");
  fireEvent.change(screen.getByLabelText("From"), { target: { value: "2026-01-01" } });
  fireEvent.change(screen.getByLabelText("To"), { target: { value: "2026-01-31" } });
  const expected = {
    project_id: "7",
    person_id: "2",
    kind: "run",
    action: "stop",
    since: new Date(2026, 0, 1).toISOString(),
    until: new Date(2026, 1, 1).toISOString(),
  };
  await waitFor(() =>
    expect(Object.fromEntries(server.of("GET /audit").at(-1)?.query ?? [])).toEqual(expected),
  );
  const link = screen.getByRole("link", { name: "Export as JSON Lines" });
  expect(link.getAttribute("href")).toBe(`/api/v1/audit/export?${new URLSearchParams(expected)}`);
  await userEvent.click(screen.getByRole("button", { name: "Clear filters" }));
  await waitFor(() => expect(Object.fromEntries(server.of("GET /audit").at(-1)?.query ?? [])).toEqual({}));
});

it("reads the filters of the audit log from the URL", async () => {
  const server = open(ana, log, "/settings/audit?kind=run&action=invented&person_id=x&since=never");
  await screen.findByRole("row", { name: /Stop run Pong/ });
  const { query } = server.of("GET /audit").at(-1) ?? {};
  expect(Object.fromEntries(query ?? [])).toEqual({ kind: "run", action: "invented" });
  expect(screen.getByRole<HTMLSelectElement>("combobox", { name: "Action" }).value).toBe("invented");
});
