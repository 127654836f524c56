import { Button } from "@mantine/core";
import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it, vi } from "vitest";
import { call } from "@/api/client";
import { useCreateToken } from "@/api/people";
import { renderPage } from "@/testing/render";
import { done, refusal, serve, type Answer } from "@/testing/server";

const NEW = { name: "script", scopes: ["read" as const] };
const isFresh = { value: false };

function account(proofs: string[]) {
  return () => ({
    person: { id: 1, name: "Ana", email: "ana@example.org", roles: [] },
    proofs,
    fresh_until: isFresh.value ? "2026-01-01T10:15:00Z" : null,
  });
}

const createToken = () =>
  isFresh.value
    ? Response.json({ name: "script", secret: "s" }, { status: 201 })
    : Response.json({ type: "/problems/sign-in-again", detail: "Sign in again." }, { status: 403 });

function Page() {
  const create = useCreateToken();
  return (
    <>
      <Button onClick={() => create.mutate(NEW)}>Create</Button>
      <p>{create.isSuccess ? "created" : (create.error?.message ?? "")}</p>
    </>
  );
}

async function act(proofs: string[], again: Answer = done) {
  const server = serve({
    "GET /account": account(proofs),
    "POST /tokens": createToken,
    "POST /session/again": again,
  });
  renderPage(<Page />);
  await userEvent.click(await screen.findByRole("button", { name: "Create" }));
  return { server, dialog: await screen.findByRole("dialog", { name: "Sign in again" }) };
}

beforeEach(() => {
  isFresh.value = false;
});

it("asks for the password, and then repeats the action", async () => {
  const { server, dialog } = await act(["password"], ({ body }) => {
    isFresh.value = (body as { password: string }).password === "right";
    return isFresh.value
      ? done()
      : refusal(422, "password: is wrong", [{ field: "password", message: "is wrong" }]);
  });
  const field = await within(dialog).findByLabelText(/Password/, { selector: "input" });
  await userEvent.type(field, "wrong{Enter}");
  expect(await within(dialog).findByText("Is wrong.")).toBeTruthy();
  await userEvent.clear(field);
  await userEvent.type(field, "right{Enter}");
  expect(await screen.findByText("created")).toBeTruthy();
  expect(screen.queryByRole("dialog")).toBeNull();
  expect(server.of("POST /tokens").map(({ body }) => body)).toEqual([NEW, NEW]);
});

it.each(["Cancel", "Escape"])("gives up the action on %s, and says why", async (way) => {
  const { server, dialog } = await act(["password"]);
  const cancel = await within(dialog).findByRole("button", { name: "Cancel" });
  if (way === "Cancel") await userEvent.click(cancel);
  else {
    cancel.focus();
    await userEvent.keyboard("{Escape}");
  }
  expect(await screen.findByText(/Nothing has changed/)).toBeTruthy();
  expect(server.of("POST /tokens")).toHaveLength(1);
});

it("continues when the person has signed in at the provider in another tab", async () => {
  vi.useFakeTimers({ shouldAdvanceTime: true, toFake: ["setTimeout", "setInterval", "clearTimeout"] });
  const { dialog } = await act(["provider"]);
  const link = await within(dialog).findByRole("link", { name: "Sign in at your provider" });
  expect(link.getAttribute("href")).toBe("/api/v1/session/oidc?then=%2Fsigned-in-again&again=true");
  expect(within(dialog).queryByLabelText(/Password/)).toBeNull();
  link.addEventListener("click", (event) => event.preventDefault());
  await userEvent.click(link);
  isFresh.value = true;
  vi.advanceTimersByTime(2_500);
  await waitFor(() => expect(screen.getByText("created")).toBeTruthy());
  vi.useRealTimers();
});

it("asks once for several actions", async () => {
  const { server } = await act(["password"]);
  const field = await screen.findByLabelText(/Password/, { selector: "input" });
  // Another part of the page needs it too, while the dialog is open.
  const other = call("post", "/api/v1/tokens", { body: NEW });
  await waitFor(() => expect(server.of("POST /tokens")).toHaveLength(2));
  isFresh.value = true;
  await userEvent.type(field, "right{Enter}");
  await screen.findByText("created");
  expect(await other).toEqual({ name: "script", secret: "s" });
  expect(server.of("POST /session/again")).toHaveLength(1);
  expect(server.of("POST /tokens")).toHaveLength(4);
});
