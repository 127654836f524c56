import { Popover } from "@mantine/core";
import { IconPencil } from "@tabler/icons-react";
import { type ReactNode, useRef } from "react";
import type { ListedRun } from "@/api/types";
import { lazyPart } from "@/ui/lazyPart";
import classes from "./EditableRun.module.css";
import type { EditedField } from "./editedFields";

const RunEditorDropdown = lazyPart(() => import("./RunEditor").then((module) => module.RunEditorDropdown));

interface EditableRunProps {
  run: ListedRun;
  /** The field being edited. Null if the form is closed. */
  field: EditedField | null;
  onEdit: (field: EditedField | null) => void;
  children: ReactNode;
}

/** First cell of a row with a button that opens a form for the name, tags and notes below it. */
export function EditableRun({ run, field, onEdit, children }: EditableRunProps) {
  const cell = useRef<HTMLDivElement>(null);
  function close() {
    onEdit(null);
    cell.current?.querySelector("a")?.focus();
  }
  return (
    <div ref={cell} className={classes.cell}>
      {children}
      {run.actions.edit === null && (
        <button
          type="button"
          className={classes.edit}
          aria-label={`Edit ${run.name}`}
          title="Edit name, tags and notes (F2)"
          onClick={() => onEdit("name")}
        >
          <IconPencil size={14} aria-hidden />
        </button>
      )}
      {field !== null && run.actions.edit === null && (
        <Popover
          opened
          trapFocus
          withRoles={false}
          width={360}
          position="bottom-start"
          shadow="md"
          closeOnEscape={false}
          closeOnClickOutside={false}
        >
          <Popover.Target>
            <span className={classes.anchor} />
          </Popover.Target>
          <RunEditorDropdown run={run} field={field} onClose={close} />
        </Popover>
      )}
    </div>
  );
}
