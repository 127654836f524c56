import { Button, FileButton } from "@mantine/core";
import { IconFileUpload } from "@tabler/icons-react";
import { useRef } from "react";
import { useMayWrite } from "@/api/projects";
import { lazyPart } from "@/ui/lazyPart";
import type { Imports } from "./useImports";

const ImportAgentModal = lazyPart(() =>
  import("./ImportAgentModal").then((module) => module.ImportAgentModal),
);

/** Button that imports runs from archive files, and agents. They can also be dropped on the page. */
export function ImportButton({ imports }: { imports: Imports }) {
  const mayWrite = useMayWrite();
  const reset = useRef<() => void>(null);
  function choose(files: File[]) {
    imports.add(files);
    // Otherwise the same file could not be chosen again.
    reset.current?.();
  }
  if (!mayWrite) return null;
  return (
    <>
      {imports.agent && (
        <ImportAgentModal
          key={`${imports.agent.name} ${imports.agent.lastModified}`}
          file={imports.agent}
          project={imports.project}
          onClose={imports.closeAgent}
        />
      )}
      <FileButton
        onChange={choose}
        resetRef={reset}
        accept=".arcadia,.zip"
        multiple
        inputProps={{ "aria-label": "Archive and agent files" }}
      >
        {(props) => (
          <Button
            {...props}
            variant="default"
            size="xs"
            loading={imports.isImporting}
            leftSection={<IconFileUpload size={16} />}
            title="Import runs from .arcadia files or agents from .zip files, or drop them on this page"
          >
            Import
          </Button>
        )}
      </FileButton>
    </>
  );
}
