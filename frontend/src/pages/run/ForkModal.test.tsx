import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import type { RouteObject } from "react-router";
import { expect, it } from "vitest";
import { aCheckpoint } from "@/testing/files";
import { aMethod } from "@/testing/methods";
import { onItsWay, renderPage } from "@/testing/render";
import { aRun } from "@/testing/runs";
import { refusal, serve } from "@/testing/server";
import { ForkModal } from "./ForkModal";

const schema = aMethod("paac", "PAAC", ["CartPole-v1"]);
const run = aRun({
  id: 3,
  config: { algorithm: "paac", env: "CartPole-v1", total_steps: 5000, gamma: 0.5 },
});

const RUN_PAGE: RouteObject = { path: "/runs/:id", element: <p>The run page</p> };

function open(more: Record<string, object> = {}, routes = [RUN_PAGE]) {
  const server = serve({
    "GET /config-schema": schema,
    "GET /environments": [],
    "POST /runs/3/fork": aRun({ id: 77 }),
    ...more,
  });
  const page = renderPage(
    <ForkModal run={run} checkpoint={aCheckpoint(8, 2000)} onClose={() => undefined} />,
    { routes },
  );
  return { ...page, server };
}

async function write(label: RegExp, text: string) {
  const input = await screen.findByLabelText<HTMLInputElement>(label);
  await userEvent.clear(input);
  await userEvent.click(input);
  await userEvent.paste(text);
}

it("starts with the run's configuration, even if the form loads later, and sends the changes", async () => {
  let sendSchema: (schema: object) => void = () => undefined;
  const response = new Promise<object>((resolve) => (sendSchema = resolve));
  const { router, server } = open({ "GET /config-schema": () => response });
  expect(await screen.findByText("Loading form…")).toBeTruthy();
  sendSchema(schema);

  const discount = await screen.findByLabelText<HTMLInputElement>(/Discount gamma/);
  expect(discount.value).toBe("0.5");
  expect(screen.getByText("No settings changed")).toBeTruthy();
  await write(/Discount gamma/, "0.9");
  expect(screen.getByText("1 setting changed")).toBeTruthy();
  await userEvent.click(screen.getByText("Launch fork"));

  await waitFor(() => expect(router.state.location.pathname).toBe("/runs/77"));
  expect(server.of("POST /runs/3/fork").map(({ body }) => body)).toEqual([
    { checkpoint_id: 8, overrides: { gamma: 0.9 }, name: expect.stringContaining("from 2") as string },
  ]);
});

it("says how many steps the fork trains, and refuses a fork without any", async () => {
  const { server } = open();
  await screen.findByText(/and trains 3 k steps more/);
  await write(/Total steps total_steps/, "2000");
  expect(screen.getByText(/Raise the total steps above 2.000/)).toBeTruthy();
  expect(screen.queryByText(/ more\. The method/)).toBeNull();
  await userEvent.click(screen.getByText("Launch fork"));
  expect(await screen.findByText(/^Must be more than 2.000/)).toBeTruthy();
  expect(server.of("POST /runs/3/fork")).toEqual([]);
  await write(/Total steps total_steps/, "2500");
  await userEvent.click(screen.getByText("Launch fork"));
  await screen.findByText("The run page");
});

it("sends nothing while a field is invalid", async () => {
  const { server } = open();
  await write(/Discount gamma/, "1.5");
  await userEvent.click(screen.getByText("Launch fork"));
  expect(await screen.findByText("Must be from 0 to 1.")).toBeTruthy();
  expect(server.of("POST /runs/3/fork")).toEqual([]);
});

it("shows server errors beside their fields, and others below the form", async () => {
  const errors = [
    { field: "overrides.gamma", message: "too far-sighted" },
    { field: "overrides", message: "the network cannot change" },
  ];
  open({ "POST /runs/3/fork": () => refusal(422, "Wrong.", errors) });
  await write(/Discount gamma/, "0.9");
  await userEvent.click(screen.getByText("Launch fork"));
  expect(await screen.findByText("Too far-sighted.")).toBeTruthy();
  expect(screen.getByText("The network cannot change.").getAttribute("role")).toBe("alert");
});

it("says that the form could not be loaded", async () => {
  open({ "GET /environments": () => refusal(500, "The database is locked.") });
  expect(await screen.findByText("The database is locked.")).toBeTruthy();
  expect(screen.queryByText("Launch fork")).toBeNull();
});

it("launches only one fork if the button is clicked again while the next page loads", async () => {
  const { router, server } = open({}, [onItsWay("/runs/:id")]);
  await screen.findByLabelText(/Total steps total_steps/);
  const button = screen.getByRole("button", { name: "Launch fork" });
  await userEvent.click(button);
  await waitFor(() => expect(router.state.navigation.state).toBe("loading"));
  expect(button).toHaveProperty("disabled", true);
  await userEvent.click(button);
  expect(server.of("POST /runs/3/fork")).toHaveLength(1);
});

it("keeps the draft until it is launched or discarded", async () => {
  const first = open();
  await write(/Total steps total_steps/, "7700");
  await write(/^Name$/, "much longer");
  first.unmount();
  const second = open();
  expect((await screen.findByLabelText<HTMLInputElement>(/Total steps total_steps/)).value).toBe("7700");
  expect(screen.getByLabelText<HTMLInputElement>("Name").value).toBe("much longer");
  await userEvent.click(screen.getByText("Launch fork"));
  await screen.findByText("The run page");
  second.unmount();
  open();
  expect((await screen.findByLabelText<HTMLInputElement>(/Total steps total_steps/)).value).toBe("5000");
  await write(/Total steps total_steps/, "9000");
  expect(screen.queryByText("Start over")).toBeNull();
});

it("says that a checkpoint has all steps only if it has", async () => {
  open();
  await write(/Total steps total_steps/, "1000");
  expect(screen.getByRole("status").textContent).toMatch(/^Raise the total steps above 2.000\.$/);
});
