import { Accordion, Badge, Group, Stack, Text } from "@mantine/core";
import { useState } from "react";
import type { Environment } from "@/api/types";
import { ConfigField } from "./ConfigField";
import classes from "./fields.module.css";
import { FormSearch } from "./FormSearch";
import { type FormField, searchFields, sectionsOf, splitEssential } from "./schema";
import type { ConfigDraft } from "./useConfigDraft";

interface ConfigFieldsProps {
  config: ConfigDraft;
  environments: readonly Environment[];
  /** Hidden fields that cannot be changed, such as the game of a fork. */
  without?: readonly string[];
}

/** All hyperparameters: the essential ones first, the others in collapsed sections with a search. */
export function ConfigFields({ config, environments, without = [] }: ConfigFieldsProps) {
  const [opened, setOpened] = useState<string[]>([]);
  const { essential, others } = splitEssential(
    config.fields.filter((field) => !without.includes(field.name)),
  );
  const [text, setText] = useState("");
  const sections = sectionsOf(searchFields(others, text));
  const isSearching = text.trim() !== "";
  // Open sections with errors.
  const failing = sections
    .filter(([, fields]) => fields.some((field) => config.errors[field.name] !== undefined))
    .map(([group]) => group);
  const found = isSearching ? sections.map(([group]) => group) : [];

  return (
    <Stack gap="lg">
      <FieldGrid fields={essential} config={config} environments={environments} />
      <Group justify="space-between" gap="xs">
        <Text component="h2" size="sm" fw={600}>
          More settings
        </Text>
        <FormSearch
          label="Search settings"
          placeholder={`Search ${others.length} settings`}
          text={text}
          onType={setText}
        />
      </Group>
      {sections.length === 0 && (
        <Text size="sm" c="dimmed">
          {`No other setting matches “${text.trim()}”.`}
        </Text>
      )}
      <Accordion
        multiple
        variant="separated"
        value={[...new Set([...opened, ...failing, ...found])]}
        onChange={setOpened}
        keepMounted
      >
        {sections.map(([group, fields]) => (
          <Accordion.Item key={group} value={group} className={classes.section}>
            <Accordion.Control>
              <SectionTitle group={group} fields={fields} config={config} />
            </Accordion.Control>
            <Accordion.Panel>
              <FieldGrid fields={fields} config={config} environments={environments} />
            </Accordion.Panel>
          </Accordion.Item>
        ))}
      </Accordion>
    </Stack>
  );
}

function SectionTitle({
  group,
  fields,
  config,
}: {
  group: string;
  fields: FormField[];
  config: ConfigDraft;
}) {
  const changed = fields.filter((field) => config.changed.includes(field)).length;
  return (
    <Group gap={8} wrap="nowrap">
      <Text fw={600} size="sm" style={{ flexShrink: 0 }}>
        {group === "Run" ? "More about the run" : group}
      </Text>
      <Text size="xs" c="dimmed" truncate visibleFrom="xs" aria-hidden>
        {fields.map((field) => field.title).join(", ")}
      </Text>
      {changed > 0 && (
        <Badge size="sm" variant="light" tt="none" style={{ flexShrink: 0 }}>
          {changed} changed
        </Badge>
      )}
    </Group>
  );
}

interface FieldGridProps {
  fields: FormField[];
  config: ConfigDraft;
  environments: readonly Environment[];
}

function FieldGrid({ fields, config, environments }: FieldGridProps) {
  return (
    <div className={classes.fields}>
      {fields.map((field) => (
        <ConfigField
          key={field.name}
          field={field}
          typed={config.draft[field.name]}
          reference={config.reference.values[field.name]}
          error={config.errors[field.name]}
          environments={environments}
          method={config.variant?.title ?? ""}
          several={config.several}
          onType={(typed) => config.set(field.name, typed)}
          onLeave={() => config.leave(field.name)}
          onReset={() => config.reset(field.name)}
        />
      ))}
    </div>
  );
}
