import { Group, Table, Text, Title } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconSettings } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { changesQuery } from "@/api/changes";
import type { Run } from "@/api/types";
import { useConfigFields } from "@/config-form/useConfigFields";
import { changeState, describeChange } from "@/run-actions/changes/changeWords";
import { ChangeSettingsModal } from "@/run-actions/changes/ChangeSettingsModal";
import { BlockableButton } from "@/ui/BlockableButton";
import { TimeAgo } from "@/ui/Quantity";
import { WideTable } from "@/ui/WideTable";
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
      {changes.length === 0 ? (
        <Text size="sm" c="dimmed">
          The run has the settings that it started with.
        </Text>
      ) : (
        <WideTable label="Table of changes">
          <Table verticalSpacing={6} layout="auto">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Change</Table.Th>
                <Table.Th>Requested</Table.Th>
                <Table.Th>State</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {changes.map((change) => (
                <Table.Tr key={change.number}>
                  <Table.Td>
                    {describeChange(change, fields).map((line) => (
                      <div key={line}>{line}</div>
                    ))}
                  </Table.Td>
                  <Table.Td>
                    <TimeAgo time={change.requested_at} />
                    {change.requested_by && ` by ${change.requested_by}`}
                  </Table.Td>
                  <Table.Td>{changeState(change)}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </WideTable>
      )}
      {isOpen && <ChangeSettingsModal run={run} onClose={dialog.close} />}
    </section>
  );
}
