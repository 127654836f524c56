import { act, fireEvent, render, screen } from "@testing-library/react";

import { describe, expect, it, vi } from "vitest";
import { Poster } from "./Poster";

function load(naturalWidth: number, size: number) {
  render(<Poster fileId={7} size={size} alt="Pong" />);
  const picture = screen.getByAltText("Pong");
  Object.defineProperties(picture, {
    naturalWidth: { value: naturalWidth },
    naturalHeight: { value: naturalWidth - 1 },
  });
  fireEvent.load(picture);
  return picture;
}

describe("the latest frame", () => {
  it("comes from the server's files", () => {
    expect(load(84, 48).getAttribute("src")).toBe("/api/v1/files/7");
  });

  it("keeps its pixels whole when it is enlarged, and is averaged when it is shrunk", () => {
    expect(load(16, 48).className).toBe("pixelated");
    document.body.replaceChildren();
    expect(load(210, 48).className).toBe("");
  });

  it("is fetched again after a failure", () => {
    vi.useFakeTimers();
    render(<Poster fileId={7} size={48} alt="Pong" />);
    const failed = screen.getByAltText("Pong");
    fireEvent.error(failed);
    act(() => vi.advanceTimersByTime(1000));
    const again = screen.getByAltText("Pong");
    expect(again).not.toBe(failed);
    expect(again.getAttribute("src")).toBe("/api/v1/files/7");
    vi.useRealTimers();
  });

  it("is an empty screen before there is one", () => {
    render(<Poster fileId={null} size={48} alt="Pong" />);
    expect(screen.queryByAltText("Pong")).toBeNull();
  });
});
