import { Button, FileButton } from "@mantine/core";
import { IconFileUpload } from "@tabler/icons-react";
import { useRef } from "react";

interface ImportButtonProps {
  importing: boolean;
  onChoose: (files: File[]) => void;
}

/** Button that imports runs from archive files. They can also be dropped on the page. */
export function ImportButton({ importing, onChoose }: ImportButtonProps) {
  const reset = useRef<() => void>(null);
  function choose(files: File[]) {
    onChoose(files);
    // Otherwise the same file could not be chosen again.
    reset.current?.();
  }
  return (
    <FileButton
      onChange={choose}
      resetRef={reset}
      accept=".arcadia"
      multiple
      inputProps={{ "aria-label": "Archive files" }}
    >
      {(props) => (
        <Button
          {...props}
          variant="default"
          size="xs"
          loading={importing}
          leftSection={<IconFileUpload size={16} />}
          title="Import runs from .arcadia files, or drop them on this page"
        >
          Import
        </Button>
      )}
    </FileButton>
  );
}
