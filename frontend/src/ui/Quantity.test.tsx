import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it, vi } from "vitest";
import { renderPage } from "@/testing/render";
import { Rate, Score, Short, TimeAgo } from "./Quantity";

describe("a number", () => {
  it.each([
    [<Short key="s" value={1_234_567} unit="steps" />, "1.2 M steps", "1 234 567 steps"],
    [<Rate key="r" value={4123.5} />, "4.1 k/s", "4 123.5 steps/s"],
    [<Score key="m" value={-20.444} meaning="Best" />, "−20.4", "Best: −20.444"],
    [<Score key="b" value={681_574_400} meaning="Max" unit="bytes" />, "650 MiB", "Max: 681 574 400 bytes"],
    [<Score key="n" value={null} meaning="Best" />, "–", "Best: none yet"],
    [<Score key="w" value="NaN" meaning="Last" />, "NaN", "Last: NaN"],
  ])("is short, and exact on hover", async (element, words, exactly) => {
    renderPage(element);
    await userEvent.hover(screen.getByText(words));
    expect(await screen.findByText(exactly)).toBeTruthy();
  });
});

describe("a time", () => {
  it("is relative to the current time", () => {
    renderPage(<TimeAgo time={new Date(Date.now() - 3.5 * 86_400_000).toISOString()} />);
    expect(screen.getByText("3 d ago")).toBeTruthy();
  });

  it("is not in the future if the server's clock is ahead", () => {
    renderPage(<TimeAgo time={new Date(Date.now() + 60_000).toISOString()} />);
    expect(screen.getByText("just now")).toBeTruthy();
  });

  it("is relative to the current time, even if no time was shown for a while", () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const time = new Date(Date.now() - 60_000).toISOString();
    renderPage(<TimeAgo time={time} />).unmount();
    vi.setSystemTime(Date.now() + 9 * 60_000);
    renderPage(<TimeAgo time={time} />);
    expect(screen.getByText("10 min ago")).toBeTruthy();
    vi.useRealTimers();
  });

  it("is a dash if unknown", () => {
    renderPage(<TimeAgo time={null} />);
    expect(screen.getByText("–")).toBeTruthy();
  });
});
