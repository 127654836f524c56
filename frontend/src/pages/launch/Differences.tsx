import { ActionIcon, Button, Group, Text } from "@mantine/core";
import { IconArrowBackUp } from "@tabler/icons-react";
import { shown } from "@/config-form/draft";
import type { FormField } from "@/config-form/schema";
import type { ConfigDraft } from "@/config-form/useConfigDraft";
import classes from "./launch.module.css";

/** The changed fields with the reference's values. They can be reset one by one, or all at once. */
export function Differences({ config }: { config: ConfigDraft }) {
  const { changed, reference } = config;
  const canReset = ({ name }: FormField) => name !== "env";
  if (changed.length === 0)
    return (
      <Text size="xs" c="dimmed">
        Unchanged from “{reference.title}”.
      </Text>
    );
  return (
    <section aria-label="Differences">
      <Group justify="space-between" gap="xs" wrap="nowrap">
        <Text size="xs" c="dimmed">
          Changed from “{reference.title}”:
        </Text>
        {changed.some(canReset) && (
          <Button size="compact-xs" variant="subtle" style={{ flexShrink: 0 }} onClick={config.resetAll}>
            Reset all
          </Button>
        )}
      </Group>
      <ul className={classes.differences}>
        {changed.map((field) => (
          <li key={field.name}>
            <span>{field.title}</span>
            <span>
              {shown(reference.values[field.name] ?? field.initial)} → {currentText(config, field)}
            </span>
            {canReset(field) && (
              <ActionIcon
                size={24}
                variant="subtle"
                aria-label={`Reset ${field.title} in the summary`}
                title={`Reset ${field.title}`}
                onClick={() => config.reset(field.name)}
              >
                <IconArrowBackUp size={16} />
              </ActionIcon>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function currentText({ series, draft, values }: ConfigDraft, { name }: FormField): string {
  if (series[name]) return String(draft[name]);
  return values[name] === undefined ? "?" : shown(values[name]);
}
