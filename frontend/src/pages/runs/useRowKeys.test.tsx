import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useRef } from "react";
import { expect, it, vi } from "vitest";
import { useRowKeys } from "./useRowKeys";

function Rows({ ids, toggle }: { ids: string[]; toggle: (id: string) => void }) {
  const body = useRef<HTMLDivElement>(null);
  useRowKeys({ ids, body, scrollTo: () => undefined, toggle: (row) => toggle(ids[row] ?? "none") });
  return (
    <div ref={body}>
      {ids.map((id, at) => (
        <p key={id} aria-rowindex={at + 2}>
          <a href={`/runs/${id}`}>{id}</a>
        </p>
      ))}
    </div>
  );
}

it("selects the focused run even after the rows were reordered", async () => {
  const toggle = vi.fn();
  const { rerender } = render(<Rows ids={["1", "2", "3"]} toggle={toggle} />);
  await userEvent.keyboard("jj");
  await vi.waitFor(() => expect(document.activeElement).toBe(screen.getByText("2")));
  rerender(<Rows ids={["2", "3", "1"]} toggle={toggle} />);
  expect(document.activeElement).toBe(screen.getByText("2"));
  await userEvent.keyboard("x");
  expect(toggle.mock.calls).toEqual([["2"]]);
  await userEvent.keyboard("j");
  await vi.waitFor(() => expect(document.activeElement).toBe(screen.getByText("3")));
});

it("selects nothing once the run is no longer listed", async () => {
  const toggle = vi.fn();
  const { rerender } = render(<Rows ids={["1", "2"]} toggle={toggle} />);
  await userEvent.keyboard("j");
  rerender(<Rows ids={["2"]} toggle={toggle} />);
  await userEvent.keyboard("x");
  expect(toggle).not.toHaveBeenCalled();
});
