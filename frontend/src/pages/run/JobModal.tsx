import { Button, Group, Modal, Stack, Text } from "@mantine/core";
import type { UseQueryResult } from "@tanstack/react-query";
import type { FormEvent, ReactNode } from "react";
import { FormErrors } from "@/ui/FormErrors";
import { QueryError } from "@/ui/QueryError";

interface JobModalProps {
  title: string;
  size?: "lg";
  /** Queries that the form needs. */
  queries?: readonly UseQueryResult<unknown>[];
  onClose: () => void;
  /** The form, once the queries have data. */
  children: ReactNode;
}

/** Dialog that requests a job. */
export function JobModal({ title, size, queries = [], onClose, children }: JobModalProps) {
  const failed = queries.find((query) => query.error !== null && query.data === undefined);
  const isLoading = queries.some((query) => query.data === undefined);
  return (
    <Modal
      opened
      onClose={onClose}
      {...(size && { size })}
      title={title}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      {failed?.error ? (
        <QueryError error={failed.error} retry={() => void failed.refetch()} />
      ) : isLoading ? (
        <Text c="dimmed">Loading form…</Text>
      ) : (
        children
      )}
    </Modal>
  );
}

interface JobFormProps {
  /** Label of the button that sends the request. */
  action: string;
  isSending: boolean;
  refusals: readonly string[];
  onSubmit: (event: FormEvent<HTMLFormElement>) => void;
  onClose: () => void;
  children: ReactNode;
}

/** Form that requests a job, with its errors and its buttons. */
export function JobForm({ action, isSending, refusals, onSubmit, onClose, children }: JobFormProps) {
  return (
    <form onSubmit={onSubmit} noValidate>
      <Stack gap="md">
        {children}
        <FormErrors messages={refusals} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={isSending}>
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
