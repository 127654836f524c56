import { ActionIcon, Button, Group, Menu, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconDots, IconFileDownload, IconTrash } from "@tabler/icons-react";
import type { UseMutationResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { address } from "@/api/client";
import { isUnfinished } from "@/api/jobs";
import type { Evaluation } from "@/api/types";
import { ConfirmModal } from "@/ui/ConfirmModal";
import { MenuAction } from "@/ui/MenuAction";

type ByID = UseMutationResult<unknown, Error, number>;

interface JobActionsProps {
  job: Pick<Evaluation, "id" | "state">;
  noun: string;
  /** Name with the noun: "evaluation by no-op-5min at 1.2 M steps". */
  name: string;
  cancel: ByID;
  remove: ByID;
  /** API path and label of the results as CSV. */
  results: { path: string; label: string };
  /** Effect of removing the job. */
  children: ReactNode;
}

/** Actions for an evaluation or a calibration: cancel, export and remove. */
export function JobActions({ job, noun, name, cancel, remove, results, children }: JobActionsProps) {
  const [isConfirmOpen, confirmDialog] = useDisclosure(false);
  return (
    <Group gap={4} justify="flex-end" wrap="nowrap">
      {isUnfinished(job) && (
        <Button
          size="compact-sm"
          variant="default"
          aria-label={`Cancel the ${name}`}
          loading={cancel.isPending}
          onClick={() => cancel.mutate(job.id)}
        >
          Cancel
        </Button>
      )}
      <Menu keepMounted={false} width={232}>
        <Menu.Target>
          <ActionIcon aria-label={`Actions for the ${name}`}>
            <IconDots size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <MenuAction
            Icon={IconFileDownload}
            label={results.label}
            href={address(results.path)}
            blocked={job.state === "done" ? null : "Available when the job is done."}
          />
          <Menu.Item
            color="var(--mantine-color-error)"
            leftSection={<IconTrash size={16} />}
            onClick={confirmDialog.open}
          >
            Remove {noun}…
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <ConfirmModal
        opened={isConfirmOpen}
        title={`Remove this ${noun}?`}
        action={`Remove ${noun}`}
        danger
        busy={remove.isPending}
        onConfirm={() => remove.mutate(job.id, { onSettled: confirmDialog.close })}
        onClose={confirmDialog.close}
      >
        <Text size="sm">{children}</Text>
      </ConfirmModal>
    </Group>
  );
}
