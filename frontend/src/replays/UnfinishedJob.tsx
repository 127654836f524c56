import { Button, Text } from "@mantine/core";
import type { Saliency } from "@/api/types";
import { ForEditors } from "@/ui/mayEdit";
import { TextWithCode } from "@/ui/TextWithCode";

interface UnfinishedJobProps {
  job: Pick<Saliency, "state" | "reason">;
  size: "xs" | "sm";
  /** Progress of a running job. */
  progress: string;
  /** Accessible name of the button. */
  cancelLabel: string;
  isCancelling: boolean;
  onCancel: () => void;
}

/** Progress of a job, or why it waits, with a button that cancels it. */
export function UnfinishedJob(props: UnfinishedJobProps) {
  const { job, size, progress, cancelLabel, isCancelling, onCancel } = props;
  return (
    <>
      <Text size={size} role="status">
        {job.state === "running" && !job.reason ? (
          progress
        ) : (
          <TextWithCode>{job.reason ?? "Waiting for a worker"}</TextWithCode>
        )}
      </Text>
      <ForEditors>
        <Button
          size={`compact-${size}`}
          variant="default"
          aria-label={cancelLabel}
          loading={isCancelling}
          onClick={onCancel}
          style={{ flex: "none" }}
        >
          Cancel
        </Button>
      </ForEditors>
    </>
  );
}
