import { Group, Text, Title } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconSettings } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { changesQuery } from "@/api/changes";
import type { Run } from "@/api/types";
import { useConfigFields } from "@/config-form/useConfigFields";
import { changeState, describeChange } from "@/run-actions/changes/changeWords";
import { ChangeSettingsModal } from "@/run-actions/changes/ChangeSettingsModal";
import { BlockableButton } from "@/ui/BlockableButton";
import { DataTable } from "@/ui/DataTable";
import { TimeAgo } from "@/ui/Quantity";
import classes from "./run.module.css";

/** Changes of a run's settings while it trained, and a button for another one. */
export function ChangesCard({ run }: { run: Run }) {
  const [isOpen, dialog] = useDisclosure(false);
  const { data } = useQuery(changesQuery(run.id));
  const fields = useConfigFields(run);
  const changes = data?.items ?? [];
  return (
    <section className={classes.card} aria-label="Changes">
      <Group justify="space-between" mb="xs">
        <Title order={2}>Changes</Title>
        <BlockableButton
          blocked={run.actions.change}
          size="xs"
          variant="default"
          leftSection={<IconSettings size={14} aria-hidden />}
          onClick={dialog.open}
        >
          Change settings…
        </BlockableButton>
      </Group>
      <DataTable
        label="Table of changes"
        verticalSpacing={6}
        layout="auto"
        rows={changes}
        rowKey={({ number }) => number}
        empty={
          <Text size="sm" c="dimmed">
            The run has the settings that it started with.
          </Text>
        }
        columns={[
          {
            title: "Change",
            cell: (change) => describeChange(change, fields).map((line) => <div key={line}>{line}</div>),
          },
          {
            title: "Requested",
            cell: ({ requested_at, requested_by }) => (
              <>
                <TimeAgo time={requested_at} />
                {requested_by && ` by ${requested_by}`}
              </>
            ),
          },
          { title: "State", cell: changeState },
        ]}
      />
      {isOpen && <ChangeSettingsModal run={run} onClose={dialog.close} />}
    </section>
  );
}
