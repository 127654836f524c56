import { act, fireEvent, render, screen } from "@testing-library/react";

import { describe, expect, it, vi } from "vitest";
import { Thumbnail } from "./Thumbnail";

function load(naturalWidth: number, size: number) {
  render(<Thumbnail fileId={7} size={size} alt="Pong" />);
  const picture = screen.getByAltText("Pong");
  Object.defineProperties(picture, {
    naturalWidth: { value: naturalWidth },
    naturalHeight: { value: naturalWidth - 1 },
  });
  fireEvent.load(picture);
  return picture;
}

describe("the latest frame", () => {
  it("is loaded from the server", () => {
    expect(load(84, 48).getAttribute("src")).toBe("/api/v1/files/7");
  });

  it("keeps sharp pixels when enlarged and is smoothed when shrunk", () => {
    expect(load(16, 48).className).toBe("pixelated");
    document.body.replaceChildren();
    expect(load(210, 48).className).toBe("");
  });

  it("is fetched again after an error", () => {
    vi.useFakeTimers();
    render(<Thumbnail fileId={7} size={48} alt="Pong" />);
    const failed = screen.getByAltText("Pong");
    fireEvent.error(failed);
    act(() => vi.advanceTimersByTime(1000));
    const again = screen.getByAltText("Pong");
    expect(again).not.toBe(failed);
    expect(again.getAttribute("src")).toBe("/api/v1/files/7");
    vi.useRealTimers();
  });

  it("is an empty screen before the first frame", () => {
    render(<Thumbnail fileId={null} size={48} alt="Pong" />);
    expect(screen.queryByAltText("Pong")).toBeNull();
  });
});
