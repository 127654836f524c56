import { Button, Group, Modal, Select, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { reportsQuery, useAddBlock, useCreateReport } from "@/api/reports";
import type { ReportBlock } from "@/api/types";
import { notifyDone } from "@/ui/notify";
import { useUsualProject } from "@/ui/currentProject";
import { QueryError } from "@/ui/QueryError";

const NEW = "new";

interface AddToReportProps {
  block: ReportBlock;
  opened: boolean;
  onClose: () => void;
}

/** Menu that adds a chart or a replay to a report, or starts a report with it. */
export function AddToReport({ block, opened, onClose }: AddToReportProps) {
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={`Add the ${block.kind} to a report`}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      {opened && <Choice block={block} onClose={onClose} />}
    </Modal>
  );
}

function Choice({ block, onClose }: Omit<AddToReportProps, "opened">) {
  const reports = useQuery(reportsQuery());
  const editable = reports.data?.filter(({ may_edit }) => may_edit) ?? [];
  const [chosen, setChosen] = useState<string | null>(null);
  const project = useUsualProject();
  const add = useAddBlock();
  const create = useCreateReport();
  const target = chosen ?? String(editable[0]?.id ?? NEW);
  const onSuccess = ({ title }: { title: string }) => {
    notifyDone(`Added to the end of the report “${title}”.`);
    onClose();
  };
  const put = () =>
    target === NEW
      ? create.mutate({ title: "New report", blocks: [block], project }, { onSuccess })
      : add.mutate({ id: Number(target), block }, { onSuccess });
  if (reports.isError && !reports.data)
    return <QueryError error={reports.error} retry={() => void reports.refetch()} />;
  return (
    <Stack gap="md">
      <Select
        label="Report"
        allowDeselect={false}
        data={[
          { value: NEW, label: "A new report" },
          ...editable.map(({ id, title }) => ({ value: String(id), label: `${title} (${id})` })),
        ]}
        value={target}
        onChange={setChosen}
      />
      <Text size="sm" c="dimmed">
        {block.kind === "replay"
          ? "The replay is pinned and will not be pruned."
          : "The report always shows the chart's current data."}
      </Text>
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button
          disabled={reports.isPending}
          loading={add.isPending || create.isPending}
          onClick={put}
          data-autofocus
        >
          Add
        </Button>
      </Group>
    </Stack>
  );
}
