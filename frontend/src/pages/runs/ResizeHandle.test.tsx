import { fireEvent, render, screen } from "@testing-library/react";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { MIN_WIDTH } from "./columnSpecs";
import { ResizeHandle } from "./RunTable";

// jsdom captures no pointers.
beforeEach(() => {
  Element.prototype.setPointerCapture = vi.fn();
});

function show() {
  const [onDrag, onResize, onReset] = [vi.fn(), vi.fn(), vi.fn()];
  render(<ResizeHandle title="State" width={100} onDrag={onDrag} onResize={onResize} onReset={onReset} />);
  return { handle: screen.getByLabelText("Width of State"), onDrag, onResize, onReset };
}

describe("the resize handle", () => {
  it("follows the pointer and keeps the final width", () => {
    const { handle, onDrag, onResize } = show();
    fireEvent.pointerDown(handle, { clientX: 300, pointerId: 1 });
    fireEvent.pointerMove(handle, { clientX: 340, pointerId: 1 });
    expect(onDrag).toHaveBeenLastCalledWith(140);
    expect(onResize).not.toHaveBeenCalled();
    fireEvent.pointerUp(handle, { clientX: 350, pointerId: 1 });
    expect(onResize.mock.calls).toEqual([[150]]);
    expect(onDrag).toHaveBeenLastCalledWith(null);
  });

  it("never makes a column narrower than the minimum", () => {
    const { handle, onResize } = show();
    fireEvent.pointerDown(handle, { clientX: 300, pointerId: 1 });
    fireEvent.pointerUp(handle, { clientX: 0, pointerId: 1 });
    expect(onResize.mock.calls).toEqual([[MIN_WIDTH]]);
  });

  it("keeps the width after a click without a drag, and after a canceled drag", () => {
    const { handle, onDrag, onResize } = show();
    fireEvent.pointerDown(handle, { clientX: 300, pointerId: 1 });
    fireEvent.pointerUp(handle, { clientX: 300, pointerId: 1 });
    fireEvent.pointerDown(handle, { clientX: 300, pointerId: 1 });
    fireEvent.pointerCancel(handle, { pointerId: 1 });
    fireEvent.pointerUp(handle, { clientX: 400, pointerId: 1 });
    expect(onResize).not.toHaveBeenCalled();
    expect(onDrag).toHaveBeenLastCalledWith(null);
  });

  it("resizes with the arrow keys and resets on a double click", () => {
    const { handle, onResize, onReset } = show();
    fireEvent.keyDown(handle, { key: "ArrowLeft" });
    fireEvent.keyDown(handle, { key: "ArrowRight" });
    fireEvent.keyDown(handle, { key: "a" });
    expect(onResize.mock.calls).toEqual([[84], [116]]);
    fireEvent.doubleClick(handle);
    expect(onReset).toHaveBeenCalledTimes(1);
  });
});
