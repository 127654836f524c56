import { Stack } from "@mantine/core";
import { CommandLine } from "./CommandLine";

/** How to log the first artifact. */
export function LogArtifactHint() {
  return (
    <Stack align="center" gap="sm">
      <span>An artifact is a named, versioned file or folder, such as a model. Log one in your script:</span>
      <CommandLine command={'run.log_artifact("model.pt", kind="model", aliases=["best"])'} />
    </Stack>
  );
}
