import { TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { IconSearch } from "@tabler/icons-react";
import { useState } from "react";

/** Pause in typing after which the text is sent. */
const DELAY_MS = 120;

interface SearchFieldProps {
  label: string;
  placeholder: string;
  className: string | undefined;
  maxLength: number;
  /** Search text in the URL. */
  text: string;
  onSearch: (text: string) => void;
}

/** Search field that updates the URL after a pause in typing. */
export function SearchField({ label, placeholder, className, maxLength, text, onSearch }: SearchFieldProps) {
  const [typed, setTyped] = useState(text);
  const [seen, setSeen] = useState(text);
  const [sent, setSent] = useState<string | null>(null);
  // The URL may change otherwise, such as by the back button. It may also be older than the typed text.
  if (text !== seen) {
    setSeen(text);
    setSent(null);
    if (text !== sent) setTyped(text);
  }
  const search = useDebouncedCallback((value: string) => {
    // Skip this if the URL has changed otherwise.
    if (value !== typed) return;
    setSent(value);
    onSearch(value);
  }, DELAY_MS);
  return (
    <TextInput
      type="search"
      size="xs"
      className={className}
      leftSection={<IconSearch size={14} aria-hidden />}
      placeholder={placeholder}
      aria-label={label}
      value={typed}
      maxLength={maxLength}
      onChange={(event) => {
        setTyped(event.currentTarget.value);
        search(event.currentTarget.value);
      }}
    />
  );
}
