import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it } from "vitest";
import type { Practice } from "@/api/types";
import { aPractice, aPreview, aVerdict } from "@/testing/practices";
import { renderPage } from "@/testing/render";
import { aReview } from "@/testing/reviews";
import { serve } from "@/testing/server";
import { PracticeSection } from "./PracticeSection";

async function open(practices: Practice[], answers: Parameters<typeof serve>[0] = {}) {
  const server = serve({
    "GET /reviews/5/practices": () => practices,
    "POST /reviews/5/practices/preview": aPreview(),
    ...answers,
  });
  renderPage(<PracticeSection review={aReview([])} />);
  return { ...server, section: within(await screen.findByRole("region", { name: "Practice" })) };
}

const text = async (name: string) => (await screen.findByRole("region", { name })).textContent;

describe("the practice of a review", () => {
  it("shows the cost before it starts", async () => {
    const practices: Practice[] = [];
    const { section, of } = await open(practices, {
      "POST /reviews/5/practices": () => {
        practices.push(aPractice());
        return practices[0];
      },
    });
    expect(
      await section.findByText(
        "12 mistakes of 3 reviews would be practiced, and 9 kept to measure. 2 runs train 50 000 steps each, " +
          "together for about 1 h 30 min. Measuring takes about 2 min, and the checkpoints at most 134 MiB. " +
          "The mean outcome at the kept mistakes must rise by at least 1.11, or no improvement is shown.",
      ),
    ).toBeTruthy();
    await userEvent.clear(section.getByLabelText("Share, %"));
    await userEvent.type(section.getByLabelText("Share, %"), "25");
    await userEvent.type(section.getByLabelText("Steps of each run"), "20000");
    await userEvent.click(section.getByRole("button", { name: "Start practice" }));
    expect(await section.findByRole("progressbar", { name: "Steps trained" })).toBeTruthy();
    expect(of("POST /reviews/5/practices").map(({ body }) => body)).toEqual([
      { share: 0.25, pairs: 1, steps: 20_000 },
    ]);
  });

  it("says why it cannot start", async () => {
    const refused = "The reviews show no mistake, so there is nothing to practice.";
    const { section } = await open([], { "POST /reviews/5/practices/preview": aPreview({ refused }) });
    expect(await section.findByText(refused)).toBeTruthy();
    expect(section.getByRole("button", { name: "Start practice" })).toHaveProperty("disabled", true);
  });

  it("shows its runs and what is known, stops, and continues with the same options", async () => {
    const practices = [aPractice()];
    const { section, of } = await open(practices, {
      "POST /practices/8/cancel": () => {
        practices[0] = aPractice({ state: "cancelled", reason: "Run 21 is paused." });
        return practices[0];
      },
      "POST /reviews/5/practices": () => aPractice(),
    });
    const runs = section.getAllByRole("link").map((link) => [link.textContent, link.getAttribute("href")]);
    expect(runs).toEqual([
      ["Practice: run 21, running", "/runs/21"],
      ["Control: run 22, queued", "/runs/22"],
    ]);
    expect(section.getByLabelText("Mean outcome at the kept mistakes so far").textContent).toBe("Before−0.8");
    await userEvent.click(section.getByRole("button", { name: "Stop" }));
    expect(await section.findByText("Run 21 is paused.")).toBeTruthy();
    await userEvent.click(section.getByRole("button", { name: "Continue" }));
    expect(of("POST /reviews/5/practices").map(({ body }) => body)).toEqual([
      { share: 0.5, before: 10, steps: 50_000, pairs: 1, evaluations: 30 },
    ]);
  });

  it("answers both questions in plain words", async () => {
    await open([aPractice({ state: "done", stage: "measuring", document: aVerdict() })]);
    expect(await text("Did these mistakes become rarer?")).toContain(
      "This agent makes fewer of these mistakes than its controlBefore−0.8Control−0.2Practice0.2Practice minus control: +0.40 (95 % 0.10 to 0.70, 9 kept mistakes)",
    );
    expect(await text("Did the score rise?")).toContain(
      "No improvement shownControl4Practice3Practice minus control: −1.0 (95 % −3 to 1, 30 evaluation episodes)",
    );
    expect(screen.getByText(/60 % before, 50 % in the control, and 10 % after practice/)).toBeTruthy();
  });

  it("speaks about practice if there are several pairs", async () => {
    const of = { unit: "pair", count: 3 } as const;
    const document = aVerdict(of, { ...of, verdict: "harmed" });
    await open([aPractice({ state: "done", stage: "measuring", document: { ...document, pairs: 3 } })]);
    expect(await text("Did these mistakes become rarer?")).toContain("Practice makes these mistakes rarer");
    expect(await text("Did the score rise?")).toContain("Practice lowers the score");
  });

  it("says when practice harmed", async () => {
    const document = aVerdict(
      { verdict: "harmed", mean: -0.4, interval: [-0.7, -0.1] },
      { count: 1, interval: null },
    );
    await open([aPractice({ state: "done", stage: "measuring", document })]);
    expect(await text("Did these mistakes become rarer?")).toContain(
      "This agent makes more of these mistakes than its control",
    );
    expect(await text("Did the score rise?")).toContain("−1 (1 evaluation episode, too few for an interval)");
  });
});
