import { Group, Stack, Switch, Table, Text, Title } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconSettings } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { changesQuery } from "@/api/changes";
import { presetsQuery } from "@/api/configuration";
import type { ConfigValue, Run } from "@/api/types";
import { sameValue, shown } from "@/config-form/draft";
import { type FormField, sectionsOf } from "@/config-form/schema";
import { useConfigFields } from "@/config-form/useConfigFields";
import { ChangeSettingsModal } from "@/run-actions/changes/ChangeSettingsModal";
import { changeState, describeChange } from "@/run-actions/changes/changeWords";
import { BlockableButton } from "@/ui/BlockableButton";
import { CommandLine } from "@/ui/CommandLine";
import { CopyText } from "@/ui/CopyText";
import { DataTable } from "@/ui/DataTable";
import { TimeAgo } from "@/ui/Quantity";
import { hasAgent, isReported, unsupportedReason } from "@/ui/states";
import { WideTable } from "@/ui/WideTable";
import { curlCommand, rerunCommands, trainCommand } from "./commands";
import { ProvenanceCard } from "./provenance/ProvenanceCard";
import classes from "./run.module.css";

/** All settings of a run with their defaults, commands that launch it again, and its provenance. */
export function ConfigTab({ run }: { run: Run }) {
  return (
    <Stack gap="md" className={classes.narrow}>
      {!isReported(run) && <ChangesCard run={run} />}
      {isReported(run) ? <ReportedSettings run={run} /> : <Settings run={run} />}
      {!isReported(run) && <RunAgain run={run} />}
      {isReported(run) && !hasAgent(run) && <RunScriptAgain run={run} />}
      <ProvenanceCard run={run} />
    </Stack>
  );
}

function RunAgain({ run }: { run: Run }) {
  const presets = useQuery(presetsQuery);
  const changes = useQuery(changesQuery(run.id));
  return (
    <section className={classes.card} aria-label="Run this again">
      <Title order={2} mb="xs">
        Run this again
      </Title>
      <Stack gap="sm">
        <Group gap="xs">
          <CopyText label="Copy as JSON" text={JSON.stringify(run.config, null, 2)} />
          <BlockableButton
            blocked={unsupportedReason(run)}
            to={`/launch?like=${run.id}`}
            size="xs"
            variant="default"
          >
            Launch again with…
          </BlockableButton>
        </Group>
        <Command title="On this server" command={curlCommand(window.location.origin, run.config)} />
        <Command title="Without a server" command={trainCommand(run, presets.data ?? [], changes.data)} />
      </Stack>
    </section>
  );
}

/** How to start the script again, as the same run or as a new one. */
function RunScriptAgain({ run }: { run: Run }) {
  return (
    <section className={classes.card} aria-label="Run the script again">
      <Title order={2} mb="xs">
        Run the script again
      </Title>
      <Stack gap="sm">
        {rerunCommands(run).map(({ title, command }) => (
          <Command key={title} title={title} command={command} />
        ))}
        <Group>
          <CopyText label="Copy configuration as JSON" text={JSON.stringify(run.config, null, 2)} />
        </Group>
      </Stack>
    </section>
  );
}

function ReportedSettings({ run }: { run: Run }) {
  const fields = Object.entries(run.config);
  return (
    <section className={classes.card} aria-label="Settings">
      <Title order={2} mb="xs">
        Settings
      </Title>
      <DataTable
        label="Table of settings"
        verticalSpacing={6}
        layout="auto"
        rows={fields}
        rowKey={([name]) => name}
        empty={<Text c="dimmed">No configuration was logged.</Text>}
        columns={[
          { title: "Setting", cell: ([name]) => name },
          {
            title: "Value",
            cell: ([, value]) => shown(value),
            cellProps: () => ({ className: classes.settingValue }),
          },
        ]}
      />
    </section>
  );
}

function Settings({ run }: { run: Run }) {
  const start = useQuery(changesQuery(run.id)).data?.start_config ?? run.config;
  const [showsChangedOnly, setShowsChangedOnly] = useState(false);
  const fields = useConfigFields(run).filter((field) => field.name in run.config);
  const knownNames = fields.map((field) => field.name);
  const unknownNames = Object.keys(run.config).filter((name) => !knownNames.includes(name));
  const changed = fields.filter((field) => !sameValue(run.config[field.name], field.initial));
  return (
    <section className={classes.card} aria-label="Settings">
      <Group justify="space-between" mb="xs">
        <Title order={2}>Settings</Title>
        <Switch
          size="xs"
          label={`Changed settings only (${changed.length})`}
          checked={showsChangedOnly}
          onChange={(event) => setShowsChangedOnly(event.currentTarget.checked)}
        />
      </Group>
      <WideTable label="Table of settings">
        <Table verticalSpacing={6} layout="auto">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Setting</Table.Th>
              <Table.Th ta="right">Value</Table.Th>
              <Table.Th ta="right">Default</Table.Th>
            </Table.Tr>
          </Table.Thead>
          {sectionsOf(showsChangedOnly ? changed : fields).map(([group, members]) => (
            <Table.Tbody key={group}>
              <Table.Tr>
                <Table.Th colSpan={3} scope="colgroup">
                  <Text size="xs" c="dimmed" fw={600}>
                    {group}
                  </Text>
                </Table.Th>
              </Table.Tr>
              {members.map((field) => (
                <SettingRow
                  key={field.name}
                  field={field}
                  value={run.config[field.name]}
                  start={start[field.name]}
                />
              ))}
            </Table.Tbody>
          ))}
          {unknownNames.length > 0 && (
            <Table.Tbody>
              {unknownNames.map((name) => (
                <Table.Tr key={name}>
                  <Table.Td>{name}</Table.Td>
                  <Table.Td ta="right">{shown(run.config[name])}</Table.Td>
                  <Table.Td />
                </Table.Tr>
              ))}
            </Table.Tbody>
          )}
        </Table>
      </WideTable>
    </section>
  );
}

interface SettingRowProps {
  field: FormField;
  value: ConfigValue | undefined;
  /** The value before all changes. */
  start: ConfigValue | undefined;
}

function SettingRow({ field, value, start }: SettingRowProps) {
  const differs = !sameValue(value, field.initial);
  return (
    <Table.Tr title={field.help}>
      <Table.Td>
        {field.title}{" "}
        <Text span size="xs" c="dimmed" className="mono" visibleFrom="xs">
          {field.name}
        </Text>
      </Table.Td>
      <Table.Td ta="right" className={differs ? classes.differs : undefined}>
        {shown(value)}
        {!sameValue(value, start) && (
          <Text size="xs" c="dimmed" fw={400}>
            {shown(start)} at the start
          </Text>
        )}
      </Table.Td>
      <Table.Td ta="right" c="dimmed">
        {shown(field.initial)}
      </Table.Td>
    </Table.Tr>
  );
}

function Command({ title, command }: { title: string; command: string }) {
  return (
    <div>
      <Text size="xs" c="dimmed" mb={4}>
        {title}
      </Text>
      <CommandLine command={command} />
    </div>
  );
}

/** Changes of a run's settings while it trained, and a button for another one. */
function ChangesCard({ run }: { run: Run }) {
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
