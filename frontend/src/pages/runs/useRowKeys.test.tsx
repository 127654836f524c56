import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useRef } from "react";
import { expect, it, vi } from "vitest";
import { useRowKeys } from "./useRowKeys";

interface RowsProps {
  ids: number[];
  toggle: (id: number) => void;
  edit?: (id: number) => void;
}

function Rows({ ids, toggle, edit = () => undefined }: RowsProps) {
  const body = useRef<HTMLDivElement>(null);
  useRowKeys({ ids, body, scrollTo: () => undefined, toggle, edit });
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
  const { rerender } = render(<Rows ids={[1, 2, 3]} toggle={toggle} />);
  await userEvent.keyboard("jj");
  await vi.waitFor(() => expect(document.activeElement).toBe(screen.getByText("2")));
  rerender(<Rows ids={[2, 3, 1]} toggle={toggle} />);
  expect(document.activeElement).toBe(screen.getByText("2"));
  await userEvent.keyboard("x");
  expect(toggle.mock.calls).toEqual([[2]]);
  await userEvent.keyboard("j");
  await vi.waitFor(() => expect(document.activeElement).toBe(screen.getByText("3")));
});

it("selects nothing once the run is no longer listed", async () => {
  const toggle = vi.fn();
  const { rerender } = render(<Rows ids={[1, 2]} toggle={toggle} />);
  await userEvent.keyboard("j");
  rerender(<Rows ids={[2]} toggle={toggle} />);
  await userEvent.keyboard("x");
  expect(toggle).not.toHaveBeenCalled();
});

it("edits the current run with F2, and nothing before a run is current", async () => {
  const edit = vi.fn();
  render(<Rows ids={[1, 2]} toggle={vi.fn()} edit={edit} />);
  await userEvent.keyboard("{F2}");
  expect(edit).not.toHaveBeenCalled();
  await userEvent.keyboard("jj{F2}");
  expect(edit.mock.calls).toEqual([[2]]);
});
