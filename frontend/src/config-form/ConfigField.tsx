import { Button, Group, Select, Switch, Text, TextInput, VisuallyHidden } from "@mantine/core";
import type { ReactNode } from "react";
import type { ConfigValue, Environment } from "@/api/types";
import { hintOf, isChanged, shown } from "./draft";
import { environmentChoices } from "./environmentChoices";
import classes from "./fields.module.css";
import type { FormField } from "./schema";
import { inputId } from "./useConfigDraft";

interface ConfigFieldProps {
  field: FormField;
  typed: string | boolean | undefined;
  /** What the preset, or the run forked from, has here. */
  reference: ConfigValue | undefined;
  error: string | undefined;
  environments: readonly Environment[];
  /** The title of the method. */
  method: string;
  onType: (typed: string | boolean) => void;
  onLeave: () => void;
  onReset: () => void;
}

/** One hyper-parameter: its name, what it does, its range, its default, and whether it was changed. */
export function ConfigField(props: ConfigFieldProps) {
  const { field, typed, reference, onReset } = props;
  const before = reference ?? field.initial;
  const changed = isChanged(field, typed, before);
  return (
    <div className={classes.field} data-changed={changed || undefined}>
      <ConfigInput {...props} />
      <Group gap={8} className={classes.fieldFoot} wrap="nowrap">
        <Text size="xs" c="dimmed" component="span" className={classes.hint}>
          {[hintOf(field), `default ${shown(field.initial)}`].filter(Boolean).join(" · ")}
        </Text>
        {changed && (
          <Button size="compact-xs" variant="subtle" onClick={onReset}>
            Changed · reset to {shown(before)}
            <VisuallyHidden>, {field.title}</VisuallyHidden>
          </Button>
        )}
      </Group>
    </div>
  );
}

function ConfigInput({ field, typed, error, environments, method, onType, onLeave }: ConfigFieldProps) {
  const label: ReactNode = (
    <>
      {field.title} <span className={classes.fieldName}>{field.name}</span>
    </>
  );
  const shared = { id: inputId(field.name), label, description: field.help, error };
  if (field.kind === "boolean") {
    return (
      <Switch
        {...shared}
        className={classes.switch}
        checked={typed === true}
        onChange={(event) => onType(event.currentTarget.checked)}
      />
    );
  }
  const text = typeof typed === "string" ? typed : "";
  if (field.kind === "choice") {
    return (
      <Select
        {...shared}
        data={field.name === "env" ? environmentChoices(field.choices, environments, method) : field.choices}
        value={text}
        allowDeselect={false}
        searchable={field.choices.length > 8}
        nothingFoundMessage="Nothing by that name"
        maxDropdownHeight={320}
        onChange={(choice) => onType(choice ?? "")}
        onBlur={onLeave}
      />
    );
  }
  return (
    <TextInput
      {...shared}
      value={text}
      autoComplete="off"
      spellCheck={false}
      onChange={(event) => onType(event.currentTarget.value)}
      onBlur={onLeave}
    />
  );
}
