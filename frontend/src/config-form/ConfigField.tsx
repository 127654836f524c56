import { Button, Group, Select, Switch, Text, TextInput, VisuallyHidden } from "@mantine/core";
import { useState } from "react";
import type { ConfigValue, Environment } from "@/api/types";
import { hintOf, isChanged, shown } from "./draft";
import { environmentChoices } from "./environmentChoices";
import classes from "./fields.module.css";
import { parseNumber } from "./numbers";
import type { FormField } from "./schema";
import { canVary, readSeries } from "./series";
import { inputId } from "./useConfigDraft";
import { VariedInput } from "./VariedInput";
import { VaryButton } from "./VaryButton";

interface ConfigFieldProps {
  field: FormField;
  typed: string | boolean | undefined;
  /** Value in the preset or in the forked run. */
  reference: ConfigValue | undefined;
  error: string | undefined;
  environments: readonly Environment[];
  /** Title of the method. */
  method: string;
  /** True if several values are allowed, which make a study. */
  several?: boolean;
  onType: (typed: string | boolean) => void;
  onLeave: () => void;
  onReset: () => void;
}

/** Input for one hyperparameter with its name, description, range, default and changes. */
export function ConfigField(props: ConfigFieldProps) {
  const { field, typed, reference, several = false, onType, onReset } = props;
  const before = reference ?? field.initial;
  const changed = isChanged(field, typed, before);
  const variable = several && canVary(field);
  const hasSeries = variable && typed !== undefined && readSeries(field, typed) !== null;
  // Keep the text input while a list is typed, because another input would take the focus.
  const [varying, setVarying] = useState(hasSeries);
  const hasChoices = field.kind === "boolean" || field.kind === "choice";
  const varied = variable && (varying || (hasChoices && hasSeries));
  const vary = () => {
    if (varied) onReset();
    else onType(initialSeries(field, typed));
    setVarying(!varied);
  };
  const { environments, method, error, onLeave } = props;
  return (
    <div className={classes.field} data-changed={changed || undefined} data-variable={variable || undefined}>
      {varied ? (
        <VariedInput
          id={inputId(field.name)}
          label={<FieldLabel field={field} />}
          {...{ field, typed, error, environments, method, onType, onLeave }}
        />
      ) : (
        <ConfigInput {...props} />
      )}
      {variable && <VaryButton title={field.title} varied={varied} onClick={vary} className={classes.vary} />}
      <Group gap={8} className={classes.fieldFoot} wrap="nowrap">
        <Text size="xs" c="dimmed" component="span" className={classes.hint}>
          {[hintOf(field), `default ${shown(field.initial)}`].filter(Boolean).join(" · ")}
        </Text>
        {changed && (
          <Button
            size="compact-xs"
            variant="subtle"
            onClick={() => {
              setVarying(false);
              onReset();
            }}
          >
            Changed · reset to {shown(before)}
            <VisuallyHidden>, {field.title}</VisuallyHidden>
          </Button>
        )}
      </Group>
    </div>
  );
}

/** Return the first text of a field that is varied. */
function initialSeries(field: FormField, typed: string | boolean | undefined): string {
  if (field.kind === "boolean") return "off, on";
  const text = typeof typed === "string" ? typed : "";
  if (field.name !== "seed") return text;
  const seed = parseNumber(text);
  return seed === null ? text : `${seed}-${seed + 2}`;
}

function FieldLabel({ field }: { field: FormField }) {
  return (
    <>
      {field.title} <span className={classes.fieldName}>{field.name}</span>
    </>
  );
}

function ConfigInput({ field, typed, error, environments, method, onType, onLeave }: ConfigFieldProps) {
  const label = <FieldLabel field={field} />;
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
        nothingFoundMessage="No match"
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
