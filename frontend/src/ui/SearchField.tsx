import { TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { IconSearch } from "@tabler/icons-react";
import { useState } from "react";

interface SearchFieldProps {
  label: string;
  placeholder: string;
  className: string | undefined;
  maxLength: number;
  /** What is searched for, as the address says. */
  text: string;
  onSearch: (text: string) => void;
}

/** A search whose words stand in the address, which follows after a pause in typing. */
export function SearchField({ label, placeholder, className, maxLength, text, onSearch }: SearchFieldProps) {
  const [typed, setTyped] = useState(text);
  const [seen, setSeen] = useState(text);
  const [sent, setSent] = useState<string | null>(null);
  // The address may change by other means, such as the way back; what was sent from here may be older than what is typed.
  if (text !== seen) {
    setSeen(text);
    setSent(null);
    if (text !== sent) setTyped(text);
  }
  const search = useDebouncedCallback((value: string) => {
    // Unless the address has changed by other means meanwhile.
    if (value !== typed) return;
    setSent(value);
    onSearch(value);
  }, 250);
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
