import { ActionIcon, Button, Group, Menu, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconDots, IconFileDownload, IconTrash } from "@tabler/icons-react";
import { address } from "@/api/client";
import { useCancelEvaluation, useDeleteEvaluation } from "@/api/evaluations";
import type { Evaluation } from "@/api/types";
import { ConfirmModal } from "@/ui/ConfirmModal";
import { evaluationName } from "@/ui/evaluationName";
import { plural } from "@/ui/format";
import { notifyDone } from "@/ui/notify";
import { isUnderWay, meanWords } from "./words";

interface ActionsProps {
  evaluation: Evaluation;
  onRemoved?: () => void;
}

/** What can be done with an evaluation: cancel it, take its episodes away, remove it. */
export function EvaluationActions({ evaluation, onRemoved }: ActionsProps) {
  const [removing, confirm] = useDisclosure(false);
  const cancel = useCancelEvaluation(evaluation.run_id);
  const name = evaluationName(evaluation);
  const remove = useDeleteEvaluation(evaluation.run_id, () => {
    notifyDone(`Evaluation by ${name} removed`);
    onRemoved?.();
  });
  const removeIt = () => remove.mutate(evaluation.id, { onSettled: confirm.close });

  return (
    <Group gap={4} justify="flex-end" wrap="nowrap">
      {isUnderWay(evaluation) && (
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
            Export every episode (CSV)
          </Menu.Item>
          <Menu.Item
            color="var(--mantine-color-error)"
            leftSection={<IconTrash size={16} />}
            onClick={confirm.open}
          >
            Remove evaluation…
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <ConfirmModal
        opened={removing}
        title="Remove this evaluation?"
        action="Remove evaluation"
        danger
        busy={remove.isPending}
        onConfirm={removeIt}
        onClose={confirm.close}
      >
        <Text size="sm">
          Evaluation by {name}, {plural(evaluation.episodes_total, "episode")}
          {evaluation.mean !== null && `, score ${meanWords(evaluation)}`}:{" "}
          {isUnderWay(evaluation)
            ? "it ends, and what it has played is deleted for good."
            : "its scores are deleted for good."}{" "}
          The checkpoint is not touched.
        </Text>
      </ConfirmModal>
    </Group>
  );
}
