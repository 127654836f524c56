import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it } from "vitest";
import { anEnvironment } from "@/testing/environments";
import { aMethod } from "@/testing/methods";
import { renderPage } from "@/testing/render";
import { ConfigFields } from "./ConfigFields";
import { variantsOf } from "./schema";
import { useConfigDraft } from "./useConfigDraft";

const variants = variantsOf(
  aMethod("paac", "PAAC", ["Catch", "Pong"], {
    clip: { type: "boolean", title: "Clip rewards", default: true, group: "Rewards" },
    seed: { anyOf: [{ type: "integer" }, { type: "null" }], title: "Seed", default: null, group: "Run" },
  }),
);
const values = { algorithm: "paac", env: "Catch", total_steps: 500, gamma: 0.9, clip: true, seed: null };

/** Form with all fields and a summary of their values. */
function Form({ without }: { without?: string[] }) {
  const config = useConfigDraft(variants, {
    key: "a",
    values,
    reference: { title: "a", values, preset: null },
  });
  return (
    <>
      <ConfigFields config={config} environments={[anEnvironment("Chess")]} without={without} />
      <output>{JSON.stringify(config.values)}</output>
      <button onClick={config.showAllErrors}>Check</button>
      <button onClick={() => config.takeServerErrors({ gamma: "Too far-sighted." })}>Refuse</button>
    </>
  );
}

const meant = (): unknown => JSON.parse(document.querySelector("output")?.textContent ?? "");
const field = (name: RegExp) => screen.getByLabelText<HTMLInputElement>(name, { selector: "input" });
const section = (name: RegExp) => screen.getByRole("button", { name, expanded: undefined, hidden: true });

async function write(name: RegExp, text: string) {
  await userEvent.clear(field(name));
  if (text) await userEvent.type(field(name), text);
  await userEvent.tab();
}

describe("the configuration fields", () => {
  it("rewrite input in the standard format", async () => {
    renderPage(<Form />);
    await write(/total_steps/, "20k");
    expect(field(/total_steps/).value).toBe("20_000");
    expect(meant()).toMatchObject({ total_steps: 20_000 });
  });

  it("show an error only after a field loses the focus", async () => {
    renderPage(<Form />);
    await userEvent.clear(field(/total_steps/));
    await userEvent.type(field(/total_steps/), "0");
    expect(screen.queryByText(/^Must be/)).toBeNull();
    await userEvent.tab();
    expect(screen.getByText("Must be from 1 to 1 000 000.")).toBeTruthy();
  });

  it("read an empty optional field as no value", async () => {
    renderPage(<Form />);
    await write(/seed/, "7");
    expect(meant()).toMatchObject({ seed: 7 });
    await write(/seed/, "");
    expect(meant()).toMatchObject({ seed: null });
  });

  it("show the number of changes in a closed section", async () => {
    renderPage(<Form />);
    await userEvent.click(section(/^Rewards/));
    await userEvent.click(field(/clip/));
    expect(section(/^Rewards/).textContent).toContain("1 changed");
    expect(meant()).toMatchObject({ clip: false });
    await userEvent.click(screen.getByRole("button", { name: "Reset Clip rewards" }));
    expect(section(/^Rewards/).textContent).not.toContain("changed");
  });

  it("find a setting by its name or help, and open its section", async () => {
    renderPage(<Form />);
    const search = screen.getByLabelText("Search settings");
    await userEvent.type(search, "gam");
    expect(section(/^Rollout/).getAttribute("aria-expanded")).toBe("true");
    expect(screen.queryByText("Rewards")).toBeNull();
    await userEvent.type(search, "bling");
    expect(screen.getByText("No other setting matches “gambling”.")).toBeTruthy();
    await userEvent.clear(search);
    expect(section(/^Rollout/).getAttribute("aria-expanded")).toBe("false");
  });

  it("show the range and the whole help on demand", async () => {
    renderPage(<Form />);
    const about = screen.getByRole("button", { name: "About Total steps" });
    const details = document.getElementById(about.getAttribute("aria-controls") ?? "");
    expect(details).toHaveProperty("hidden", true);
    await userEvent.click(about);
    expect(details).toHaveProperty("hidden", false);
    expect(details?.textContent).toMatch(/^Whole number from 1 to 1.000.000 · default 1000$/);
  });

  it("open a closed section with an error from the server", async () => {
    renderPage(<Form />);
    const rollout = section(/^Rollout/);
    expect(rollout.getAttribute("aria-expanded")).toBe("false");
    await userEvent.click(screen.getByText("Refuse"));
    await waitFor(() => expect(rollout.getAttribute("aria-expanded")).toBe("true"));
    expect(screen.getByText("Too far-sighted.")).toBeTruthy();
  });

  it("show all errors when the form is checked", async () => {
    renderPage(<Form />);
    await userEvent.clear(field(/total_steps/));
    await userEvent.click(screen.getByText("Check"));
    expect(screen.getByText("Enter a value.")).toBeTruthy();
  });

  it("hide fields that cannot be changed here", () => {
    renderPage(<Form without={["env", "gamma"]} />);
    expect(screen.queryByLabelText(/env/, { selector: "input" })).toBeNull();
    expect(screen.queryByLabelText(/gamma/, { selector: "input" })).toBeNull();
    expect(field(/total_steps/)).toBeTruthy();
  });

  it("disable games that the method cannot learn, with the reason", async () => {
    renderPage(<Form />);
    await userEvent.click(field(/env/));
    const chess = await screen.findByRole("option", { name: /Chess/, hidden: true });
    expect(chess.getAttribute("data-combobox-disabled")).toBe("true");
    expect(screen.getByText("Not for PAAC: its actions are continuous")).toBeTruthy();
  });
});
