import { ActionIcon, Button, Group, Menu, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconDots, IconFileDownload, IconTrash } from "@tabler/icons-react";
import { address } from "@/api/client";
import { useCancelEvaluation, useDeleteEvaluation } from "@/api/evaluations";
import { isUnfinished } from "@/api/jobs";
import type { Evaluation } from "@/api/types";
import { ConfirmModal } from "@/ui/ConfirmModal";
import { evaluationName } from "@/ui/evaluationName";
import { plural } from "@/ui/format";
import { notifyDone } from "@/ui/notify";
import { formatMean } from "./words";

interface ActionsProps {
  evaluation: Evaluation;
  onRemoved?: () => void;
}

/** Actions for an evaluation: cancel, export and remove. */
export function EvaluationActions({ evaluation, onRemoved }: ActionsProps) {
  const [isConfirmOpen, confirmDialog] = useDisclosure(false);
  const cancel = useCancelEvaluation(evaluation.run_id);
  const name = evaluationName(evaluation);
  const remove = useDeleteEvaluation(evaluation.run_id, () => {
    notifyDone(`Evaluation by ${name} removed.`);
    onRemoved?.();
  });
  const removeEvaluation = () => remove.mutate(evaluation.id, { onSettled: confirmDialog.close });

  return (
    <Group gap={4} justify="flex-end" wrap="nowrap">
      {isUnfinished(evaluation) && (
        <Button
          size="compact-sm"
          variant="default"
          aria-label={`Cancel the evaluation by ${name}`}
          loading={cancel.isPending}
          onClick={() => cancel.mutate(evaluation.id)}
        >
          Cancel
        </Button>
      )}
      <Menu keepMounted={false} width={232}>
        <Menu.Target>
          <ActionIcon aria-label={`Actions for the evaluation by ${name}`}>
            <IconDots size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item
            component="a"
            href={address(`/export/evaluations/${evaluation.id}.csv`)}
            download
            disabled={evaluation.state !== "done"}
            leftSection={<IconFileDownload size={16} />}
          >
            Export all episodes (CSV)
          </Menu.Item>
          <Menu.Item
            color="var(--mantine-color-error)"
            leftSection={<IconTrash size={16} />}
            onClick={confirmDialog.open}
          >
            Remove evaluation…
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <ConfirmModal
        opened={isConfirmOpen}
        title="Remove this evaluation?"
        action="Remove evaluation"
        danger
        busy={remove.isPending}
        onConfirm={removeEvaluation}
        onClose={confirmDialog.close}
      >
        <Text size="sm">
          Evaluation by {name}, {plural(evaluation.episodes_total, "episode")}
          {evaluation.mean !== null && `, score ${formatMean(evaluation)}`}:{" "}
          {isUnfinished(evaluation)
            ? "this stops it and permanently deletes its episodes."
            : "this permanently deletes its scores."}{" "}
          The checkpoint is kept.
        </Text>
      </ConfirmModal>
    </Group>
  );
}
