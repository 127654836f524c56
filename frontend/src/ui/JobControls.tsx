import { Button, type ButtonProps, Group, Text } from "@mantine/core";
import type { UseMutationResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { isUnfinished, type Job } from "@/api/jobs";
import { ConfirmModal } from "./ConfirmModal";
import { JobState, type JobWords } from "./JobState";
import { useMayEdit } from "./mayEdit";
import { notifyDone } from "./notify";
import { TextWithCode } from "./TextWithCode";

/** A change of a job, by its id. */
export type JobMutation = UseMutationResult<unknown, Error, number>;

interface JobButtonProps extends ButtonProps {
  job: { id: number; state: Job["state"] };
  mutation: JobMutation;
  /** Accessible name, where several jobs are listed. */
  "aria-label"?: string;
}

/** Button that cancels a job. Empty for an ended job, and for viewers. */
export function CancelJob({ job, mutation, children = "Cancel", ...props }: JobButtonProps) {
  const mayEdit = useMayEdit();
  if (!isUnfinished(job) || !mayEdit) return null;
  return (
    <Button
      size="compact-sm"
      variant="default"
      style={{ flex: "none" }}
      loading={mutation.isPending}
      onClick={() => mutation.mutate(job.id)}
      {...props}
    >
      {children}
    </Button>
  );
}

/** Button that deletes an ended job without a confirmation. Empty for an unfinished job, and for viewers. */
export function DeleteJob({ job, mutation, ...props }: JobButtonProps) {
  const mayEdit = useMayEdit();
  if (isUnfinished(job) || !mayEdit) return null;
  return (
    <Button
      size="xs"
      variant="subtle"
      color="gray"
      loading={mutation.isPending}
      onClick={() => mutation.mutate(job.id)}
      {...props}
    />
  );
}

interface DeleteJobModalProps {
  /** Id of the job to delete. The dialog is closed if it is null. */
  job: number | null;
  noun: string;
  verb?: "Delete" | "Remove";
  mutation: JobMutation;
  /** Notification after the deletion. */
  done?: string;
  onClose: () => void;
  /** What is lost. */
  children: ReactNode;
}

/** Dialog that deletes a job with its results. */
export function DeleteJobModal(props: DeleteJobModalProps) {
  const { job, noun, verb = "Delete", mutation, done, onClose, children } = props;
  const onSuccess = () => done !== undefined && notifyDone(done);
  return (
    <ConfirmModal
      opened={job !== null}
      title={`${verb} ${noun}?`}
      action={`${verb} ${noun}`}
      danger
      busy={mutation.isPending}
      onConfirm={() => job !== null && mutation.mutate(job, { onSuccess, onSettled: onClose })}
      onClose={onClose}
    >
      <Text size="sm">{children}</Text>
    </ConfirmModal>
  );
}

interface JobStatusProps {
  job: Pick<Job, "state" | "done" | "total" | "reason"> & { id: number };
  kind: JobWords;
  stop: JobMutation;
  /** Button that continues the job after it was stopped. */
  children?: ReactNode;
}

/** State or progress of a job that can be stopped and continued, and why it waits or failed. Empty once it is done. */
export function JobStatus({ job, kind, stop, children }: JobStatusProps) {
  if (job.state === "done") return null;
  return (
    <Group gap="xs">
      <JobState job={job} kind={kind} />
      <CancelJob job={job} mutation={stop}>
        Stop
      </CancelJob>
      {!isUnfinished(job) && children}
      {job.reason && (
        <Text size="sm" c="dimmed">
          {job.reason}
        </Text>
      )}
    </Group>
  );
}

interface WaitReasonProps {
  job: Pick<Job, "state" | "reason">;
  size?: "xs" | "sm";
  /** Shown while the job is in progress. */
  children: ReactNode;
}

/** Progress of an unfinished job in words, or why it waits. */
export function WaitReason({ job, size = "sm", children }: WaitReasonProps) {
  const isWaiting = job.state === "queued" || job.reason !== null;
  return (
    <Text size={size} role="status">
      {isWaiting ? <TextWithCode>{job.reason ?? "Waiting for a worker"}</TextWithCode> : children}
    </Text>
  );
}
