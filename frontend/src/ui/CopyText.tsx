import { Button } from "@mantine/core";
import { useCopy } from "./useCopy";

/** A button that copies a text. */
export function CopyText({ label, text }: { label: string; text: string }) {
  const { copied, copy } = useCopy();
  return (
    <Button size="xs" variant="default" onClick={() => copy(text)}>
      {copied ? "Copied" : label}
    </Button>
  );
}
