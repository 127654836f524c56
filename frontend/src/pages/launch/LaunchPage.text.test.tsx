import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it } from "vitest";
import type { ParsedConfig } from "@/api/types";
import { addressIs, launch, openLaunch, serveLaunching, type } from "@/testing/launching";
import LaunchPage from "./LaunchPage";

const open = (at: string) => openLaunch(<LaunchPage />, at);
const parsed = (changes: Partial<ParsedConfig>): ParsedConfig => ({
  format: "yaml",
  values: {},
  unknown: [],
  errors: [],
  ...changes,
});

async function paste(text: string) {
  await userEvent.click(screen.getByRole("button", { name: "Paste or copy settings" }));
  await userEvent.click(await screen.findByLabelText("Settings"));
  await userEvent.paste(text);
  await userEvent.click(screen.getByRole("button", { name: "Check settings" }));
}

it("shows what pasted settings change before it applies them", async () => {
  const server = serveLaunching({
    "POST /configurations/parse": parsed({
      values: { gamma: 0.5, total_steps: 9000 },
      unknown: [{ line: 3, field: "speed", message: "PAAC has no such setting" }],
    }),
  });
  await open("/?preset=long");
  await paste("gamma: 0.5\ntotal_steps: 9000\nspeed: 1");
  const result = within(await screen.findByText("Changes:"));
  expect(result.getAllByRole("listitem").map(({ textContent }) => textContent)).toEqual([
    "Discount: 0.99 → 0.5",
  ]);
  expect(screen.getByText("Line 3, speed: PAAC has no such setting.")).toBeTruthy();
  expect(screen.getByLabelText(/Discount gamma/)).toHaveProperty("value", "0.99");
  expect(server.of("POST /configurations/parse")[0]?.body).toMatchObject({ base: { total_steps: 9000 } });

  await userEvent.click(screen.getByRole("button", { name: "Apply 1 setting" }));
  expect(screen.getByLabelText(/Discount gamma/)).toHaveProperty("value", "0.5");
});

it("names the line and the field of an error, and applies nothing", async () => {
  serveLaunching({
    "POST /configurations/parse": parsed({
      errors: [{ line: 1, field: "gamma", message: "too large, not 2" }],
    }),
  });
  await open("/?preset=long");
  await paste("gamma: 2");
  expect(await screen.findByText("Line 1, gamma: too large, not 2.")).toBeTruthy();
  expect(screen.queryByRole("button", { name: /^Apply/ })).toBeNull();
});

it("takes another method and environment from pasted settings, with their preset", async () => {
  const server = serveLaunching({
    "POST /configurations/parse": parsed({ values: { algorithm: "a3c", env: "Pendulum", total_steps: 77 } }),
  });
  const page = await open("/?preset=long");
  await paste("algorithm: a3c");
  await userEvent.click(await screen.findByRole("button", { name: "Apply 3 settings" }));
  await addressIs("?preset=swing", page);
  await launch();
  await waitFor(() => expect(server.of("POST /runs")).toHaveLength(1));
  expect(server.of("POST /runs")[0]?.body).toMatchObject({
    config: { algorithm: "a3c", env: "Pendulum", total_steps: 77, gamma: 0.9 },
  });
});

it("copies the settings in a format", async () => {
  await (serveLaunching(), open("/?preset=long"));
  await type(/Discount gamma/, "0.5");
  await userEvent.click(screen.getByRole("button", { name: "Paste or copy settings" }));
  await userEvent.click(await screen.findByRole("tab", { name: "Copy" }));
  const text = screen.getByLabelText<HTMLTextAreaElement>("Settings of this form");
  expect(text.value).toContain('env: "CartPole-v1"');
  expect(text.value).toContain("gamma: 0.5");
  await userEvent.click(screen.getByText("TOML"));
  expect(text.value).toContain("total_steps = 9000");
  expect(screen.getByRole("button", { name: "Copy TOML" })).toBeTruthy();
});
