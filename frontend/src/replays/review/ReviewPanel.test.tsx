import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it } from "vitest";
import type { Futures, Review, ReviewDocument } from "@/api/types";
import { someFutures } from "@/testing/futures";
import { aDecision, aReview } from "@/testing/reviews";
import { aTrack } from "@/testing/tracks";
import { button, fakePlayback, openReplay, press, show } from "@/testing/whatIf";

beforeEach(fakePlayback);

const estimate = (mean: number, interval: [number, number]) => ({ count: 128, mean, interval });

const MISTAKE = aDecision({
  decision: 2,
  finding: "mistake",
  taken: "NOOP",
  better: "FIRE",
  pairs: 16,
  e_value: 4200,
  loss: estimate(1.74, [1.2, 1.9]),
  taken_outcome: estimate(-0.81, [-0.9, -0.7]),
  better_outcome: estimate(0.93, [0.8, 1]),
});

function openWith(reviews: Review[], answers: Parameters<typeof openReplay>[0] = {}) {
  return openReplay({
    ...answers,
    answers: { "GET /replays/2/reviews": () => reviews, ...answers.answers },
  });
}

async function openReview() {
  await screen.findByRole("slider", { name: "Moment of the replay" });
  await press("Review");
  return screen.findByRole("region", { name: "Review" });
}

async function openMoment(panel: HTMLElement) {
  const list = await within(panel).findByRole("list", { name: "Mistakes" });
  await userEvent.click(within(list).getByRole("button", { name: /^Decision 3/ }));
  return within(panel).getByRole("region", { name: "Moment of decision 3" });
}

describe("the evaluation bar", () => {
  it("shows the simulated outcomes at a reviewed decision, and else the critic's opinion", async () => {
    openWith([aReview([MISTAKE])], { track: aTrack({ value: Array.from({ length: 10 }, () => 0.4) }) });
    await screen.findByRole("slider", { name: "Moment of the replay" });
    show(0.02);
    const bar = await screen.findByRole("region", { name: "Evaluation" });
    expect(bar.textContent).toContain("The critic's opinion0.4, not simulated here");
    show(0.42);
    expect(bar.textContent).toContain("Simulated from decision 3");
    expect(bar.textContent).toContain("NOOP −0.81 (95 % −0.90 to −0.70), FIRE 0.93");
    expect(bar.textContent).toContain("−1.74");
  });
});

describe("the review of a replay", () => {
  it("is requested, and shows its progress", async () => {
    const reviews: Review[] = [];
    const { of } = openWith(reviews, {
      answers: {
        "POST /replays/2/reviews": () => {
          const made = aReview([], { state: "running", done: 1, total: 4, document: null });
          reviews.push(made);
          return made;
        },
        "POST /reviews/5/cancel": () => {
          reviews[0] = aReview([MISTAKE], { state: "cancelled" });
          return reviews[0];
        },
      },
    });
    const panel = await openReview();
    expect(document.activeElement).toBe(panel);
    await userEvent.click(await within(panel).findByRole("button", { name: /^Review \d+ decisions$/ }));
    expect(of("POST /replays/2/reviews").map(({ body }) => body)).toEqual([{ decisions: 60 }]);
    expect(await within(panel).findByRole("progressbar", { name: "Decisions reviewed" })).toBeTruthy();
    await userEvent.click(within(panel).getByRole("button", { name: "Stop" }));
    expect(await within(panel).findByText("Stopped")).toBeTruthy();
    expect(within(panel).getByText(/^1 mistake in 1 reviewed decision/)).toBeTruthy();
  });

  it("shows the mistakes, and leads to their moments", async () => {
    openWith([
      aReview([MISTAKE, aDecision({ decision: 0 }), aDecision({ decision: 1, finding: "testing" })]),
    ]);
    const panel = await openReview();
    const list = await within(panel).findByRole("list", { name: "Mistakes" });
    expect(within(list).getAllByRole("listitem")).toHaveLength(1);
    expect(within(list).getByText(/NOOP instead of FIRE loses 1.74 \(95 % 1.20 to 1.90\)/)).toBeTruthy();
    expect(within(panel).getByRole("status").textContent).toMatch(/1 decision is not finished/);
    const marks = within(panel).getByRole("group", { name: "Reviewed decisions" });
    expect(within(marks).getAllByRole("button")).toHaveLength(1);
    await userEvent.click(within(marks).getByRole("button", { name: /^Decision 3: NOOP instead of FIRE/ }));
    const { pictures_per_second } = aTrack().head;
    expect(document.querySelector("video")?.currentTime).toBeCloseTo(
      ((aTrack().picture[2] ?? NaN) + 0.5) / pictures_per_second,
      1,
    );
  });

  it("opens the moment of a mistake", async () => {
    openWith([aReview([MISTAKE])]);
    const panel = await openReview();
    const moment = await openMoment(panel);
    const [, played, better] = within(moment).getAllByRole("row");
    expect(played?.textContent).toBe("PlayedNOOP25.0 %−0.81 (95 % −0.90 to −0.70)");
    expect(better?.textContent).toBe("BetterFIRE75.0 %0.93 (95 % 0.80 to 1.00)");
    expect(
      within(moment).getByText(/^Very strong evidence from 16 pairs of futures: .* once in 4.2 k at most/),
    ).toBeTruthy();
    await press("Close the moment");
    expect(within(panel).queryByRole("region", { name: /^Moment/ })).toBeNull();
  });

  it("requests the futures of both actions, and plays them in pairs", async () => {
    const futures: Futures[] = [];
    const { of } = openWith([aReview([MISTAKE])], {
      futures,
      answers: {
        "POST /replays/2/futures": ({ body }) => {
          const { first } = body as { first: string[] };
          const made = someFutures(30 + futures.length, {
            first,
            videos_of: "first",
            videos: [0, 1, 2].map((number) => ({
              shows: "first" as const,
              future: number,
              file_id: 100 * (futures.length + 1) + number,
            })),
          });
          futures.unshift(made);
          return made;
        },
        "GET /futures/30": () => futures.find(({ id }) => id === 30),
        "GET /futures/31": () => futures.find(({ id }) => id === 31),
      },
    });
    const moment = await openMoment(await openReview());
    await press("Show futures");
    const shown = await within(moment).findByRole("region", { name: "Futures side by side" });
    expect(of("POST /replays/2/futures").map(({ body }) => body)).toEqual(
      ["NOOP", "FIRE"].map((action) => ({
        decision: 2,
        futures: 8,
        horizon: 200,
        until: "outcome",
        first: [action],
        record_videos: true,
        videos_of: "first",
      })),
    );
    const pairs = within(shown).getAllByRole("listitem");
    expect(pairs.map((pair) => within(pair).getByRole("heading").textContent)).toEqual([
      "Future 1",
      "Future 2",
      "Future 3",
    ]);
    const [played, better] = [...(pairs[1]?.querySelectorAll("video") ?? [])];
    expect(played?.getAttribute("src")).toContain("/files/101");
    expect(better?.getAttribute("src")).toContain("/files/201");
    expect(within(pairs[1] as HTMLElement).getByText("Better: FIRE")).toBeTruthy();
  });

  it("says why futures failed, and tries again", async () => {
    const failed = someFutures(30, {
      first: ["NOOP"],
      videos_of: "first",
      state: "failed",
      reason: "The worker was lost.",
      document: null,
    });
    openWith([aReview([MISTAKE])], { futures: [failed] });
    const moment = await openMoment(await openReview());
    expect(await within(moment).findByText("The worker was lost.")).toBeTruthy();
    expect(within(moment).getByRole("button", { name: "Try again" })).toBeTruthy();
  });

  it("sums up the losses by situation", async () => {
    const review = aReview([MISTAKE, { ...MISTAKE, decision: 5 }, { ...MISTAKE, decision: 7 }]);
    const document = review.document as ReviewDocument;
    openWith([
      {
        ...review,
        document: {
          ...document,
          situations: [
            { decisions: [2, 7], shown: 7 },
            { decisions: [5], shown: 5 },
          ],
        },
      },
    ]);
    const panel = await openReview();
    expect(await within(panel).findByText("up to 5.22")).toBeTruthy();
    expect(within(panel).getByText("3 of 4 decisions: 3 before a lost point or life")).toBeTruthy();
    expect(within(panel).getByText("100 simulated futures, 3 s")).toBeTruthy();
    const situations = within(panel).getByRole("region", { name: "Situations" });
    expect(within(situations).getAllByRole("button"), "one mistake is no group").toHaveLength(1);
    await userEvent.click(within(situations).getByRole("button", { name: /^2 mistakes/ }));
    expect(within(panel).getByRole("region", { name: "Moment of decision 8" })).toBeTruthy();
  });

  it("does not call a decision good", async () => {
    openWith([aReview([aDecision({ finding: "no challenger" })])]);
    const panel = await openReview();
    expect((await within(panel).findByRole("status")).textContent).toBe(
      "No mistake is shown in 1 reviewed decision.",
    );
    expect(within(panel).getByText(/does not mean that a decision was good/)).toBeTruthy();
  });

  it("is unavailable for continuous actions", async () => {
    const track = aTrack();
    openWith([], { track: { ...track, head: { ...track.head, numbers_kind: "gaussian" } } });
    await screen.findByRole("slider", { name: "Moment of the replay" });
    const opener = await button("Review");
    expect(opener.getAttribute("aria-disabled")).toBe("true");
  });
});
