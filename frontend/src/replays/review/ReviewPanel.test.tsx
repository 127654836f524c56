import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it } from "vitest";
import type { Review } from "@/api/types";
import { aDecision, aReview } from "@/testing/reviews";
import { aTrack } from "@/testing/tracks";
import { button, fakePlayback, openReplay, press } from "@/testing/whatIf";

beforeEach(fakePlayback);

const MISTAKE = aDecision({
  decision: 2,
  finding: "mistake",
  better: "DOWN",
  pairs: 16,
  e_value: 4200,
  loss: { count: 128, mean: 1.74, interval: [1.2, 1.9] },
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
    expect(await within(panel).findByText("Cancelled")).toBeTruthy();
    expect(within(panel).getByText(/^1 mistake in 1 reviewed decision/)).toBeTruthy();
  });

  it("shows the mistakes, and leads to their moments", async () => {
    openWith([
      aReview([MISTAKE, aDecision({ decision: 0 }), aDecision({ decision: 1, finding: "testing" })]),
    ]);
    const panel = await openReview();
    const list = await within(panel).findByRole("list", { name: "Mistakes" });
    expect(within(list).getAllByRole("listitem")).toHaveLength(1);
    expect(within(list).getByText(/UP instead of DOWN loses 1.74 \(95 % 1.20 to 1.90\)/)).toBeTruthy();
    expect(within(list).getByText(/16 pairs of futures; .* once in 4.2 k at most/)).toBeTruthy();
    expect(within(panel).getByRole("status").textContent).toMatch(/1 decision is not finished/);
    const marks = within(panel).getByRole("group", { name: "Reviewed decisions" });
    expect(marks.children).toHaveLength(3);
    await userEvent.click(within(marks).getByRole("button", { name: /^Decision 3: UP instead of DOWN/ }));
    const { pictures_per_second } = aTrack().head;
    expect(document.querySelector("video")?.currentTime).toBeCloseTo(
      ((aTrack().picture[2] ?? NaN) + 0.5) / pictures_per_second,
      1,
    );
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
