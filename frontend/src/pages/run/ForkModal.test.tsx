import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Checkpoint } from "@/api/types";
import { aMethod } from "@/testing/methods";
import { renderPage } from "@/testing/render";
import { aRun } from "@/testing/runs";
import { ForkModal } from "./ForkModal";

// Many inputs under a simulated browser, on machines that do other things too.
vi.setConfig({ testTimeout: 30_000 });

const schema = {
  oneOf: [{ $ref: "#/$defs/Paac" }],
  $defs: { Paac: aMethod("paac", "PAAC", ["CartPole-v1"]) },
};
const run = aRun({
  id: 3,
  config: { algorithm: "paac", env: "CartPole-v1", total_steps: 5000, gamma: 0.5 },
});
const checkpoint = { id: 8, step: 2000 } as Checkpoint;

let posted: unknown[] = [];
let sendSchema: (schema: object) => void = () => undefined;

beforeEach(() => {
  posted = [];
  const coming = new Promise<object>((resolve) => (sendSchema = resolve));
  vi.stubGlobal("fetch", async (input: RequestInfo | URL, init?: RequestInit) => {
    const request = input instanceof Request ? input : new Request(new URL(String(input), "http://h"), init);
    if (request.method === "POST") {
      posted.push(await request.json());
      return Response.json(aRun({ id: 77 }), { status: 201 });
    }
    return Response.json(request.url.endsWith("config-schema") ? await coming : []);
  });
});
afterEach(() => vi.unstubAllGlobals());

it("begins with the run's configuration, also where the form was not known yet, and sends what was changed", async () => {
  const { router } = renderPage(<ForkModal run={run} checkpoint={checkpoint} onClose={() => undefined} />, {
    routes: [{ path: "/runs/:id", element: <p>The run page</p> }],
  });
  expect(await screen.findByText("Loading the form…")).toBeTruthy();
  sendSchema(schema);

  const discount = await screen.findByLabelText<HTMLInputElement>(/Discount gamma/);
  expect(discount.value).toBe("0.5");
  expect(screen.getByText("Nothing changed yet: it goes on as before.")).toBeTruthy();
  await userEvent.clear(discount);
  await userEvent.click(discount);
  await userEvent.paste("0.9");
  expect(screen.getByText("1 setting changed.")).toBeTruthy();
  await userEvent.click(screen.getByText("Launch fork"));

  await waitFor(() => expect(router.state.location.pathname).toBe("/runs/77"));
  expect(posted).toEqual([
    { checkpoint_id: 8, overrides: { gamma: 0.9 }, name: expect.stringContaining("from 2") as string },
  ]);
});
