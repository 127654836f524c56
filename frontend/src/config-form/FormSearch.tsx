import { TextInput } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import classes from "./fields.module.css";

interface FormSearchProps {
  id?: string;
  label: string;
  placeholder: string;
  text: string;
  onType: (text: string) => void;
  /** Called when Enter is pressed, which never submits the form. */
  onEnter?: () => void;
}

/** Search field inside a form. */
export function FormSearch({ id, label, placeholder, text, onType, onEnter }: FormSearchProps) {
  return (
    <TextInput
      id={id}
      type="search"
      size="xs"
      className={classes.search}
      leftSection={<IconSearch size={14} aria-hidden />}
      placeholder={placeholder}
      aria-label={label}
      value={text}
      onChange={(event) => onType(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key !== "Enter") return;
        event.preventDefault();
        onEnter?.();
      }}
    />
  );
}
