import { act, render } from "@testing-library/react";
import { useRef } from "react";
import { expect, it, vi } from "vitest";
import { useVisible } from "./useVisible";

function Place() {
  const place = useRef<HTMLDivElement>(null);
  return <div ref={place}>{useVisible(place) ? "seen" : "not seen"}</div>;
}

it("uses the last of several changes that the browser reports together", () => {
  let tell: (entries: { isIntersecting: boolean }[]) => void = () => undefined;
  vi.stubGlobal(
    "IntersectionObserver",
    class {
      constructor(changed: typeof tell) {
        tell = changed;
      }
      observe() {}
      disconnect() {}
    },
  );
  const { container } = render(<Place />);
  act(() => tell([{ isIntersecting: false }, { isIntersecting: true }]));
  expect(container.textContent).toBe("seen");
  act(() => tell([{ isIntersecting: true }, { isIntersecting: false }]));
  expect(container.textContent).toBe("not seen");
});
