import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useRef } from "react";
import { expect, it, vi } from "vitest";
import { aRun } from "@/testing/runs";
import { useRowKeys } from "./useRowKeys";

interface RowsProps {
  ids: number[];
  toggle: (id: number) => void;
  edit?: (id: number) => void;
  isFast?: boolean;
}

function Rows({ ids, toggle, edit = () => undefined, isFast = false }: RowsProps) {
  const body = useRef<HTMLDivElement>(null);
  const rows = {
    count: ids.length,
    runAt: (row: number) => (ids[row] === undefined ? undefined : aRun({ id: ids[row] })),
    rowOf: (id: number) => ids.indexOf(id),
  };
  useRowKeys({ rows, body, isFast, scrollTo: () => undefined, toggle, edit });
  return (
    <div ref={body}>
      {ids.map((id) => (
        <p key={id} data-run={id}>
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

it("focuses the run when whole rows replace those of fast scrolling, and takes the focus only once", async () => {
  const { rerender } = render(<Rows ids={[1, 2]} toggle={vi.fn()} isFast />);
  await userEvent.keyboard("jj");
  expect(document.activeElement).toBe(document.body);
  rerender(<Rows ids={[1, 2]} toggle={vi.fn()} />);
  await vi.waitFor(() => expect(document.activeElement).toBe(screen.getByText("2")));
  screen.getByText("1").focus();
  rerender(<Rows ids={[1, 2]} toggle={vi.fn()} isFast />);
  rerender(<Rows ids={[1, 2]} toggle={vi.fn()} />);
  await new Promise(requestAnimationFrame);
  expect(document.activeElement).toBe(screen.getByText("1"));
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

it("moves over rows that are not loaded, and focuses the run once it arrives", async () => {
  const toggle = vi.fn();
  const body = { current: document.createElement("div") };
  const loaded = new Map([[0, 1]]);
  const scrollTo = vi.fn();
  function Keys() {
    const rows = {
      count: 5,
      runAt: (row: number) => (loaded.has(row) ? aRun({ id: loaded.get(row) }) : undefined),
      rowOf: (id: number) => [...loaded].find(([, other]) => other === id)?.[0] ?? -1,
    };
    useRowKeys({ rows, body, isFast: false, scrollTo, toggle, edit: () => undefined });
    return null;
  }
  const { rerender } = render(<Keys />);
  await userEvent.keyboard("jjj");
  expect(scrollTo.mock.calls).toEqual([[0], [1], [2]]);
  await userEvent.keyboard("x");
  expect(toggle).not.toHaveBeenCalled();
  loaded.set(2, 7);
  rerender(<Keys />);
  await userEvent.keyboard("x");
  expect(toggle.mock.calls).toEqual([[7]]);
});
