import {
  Accordion,
  ActionIcon,
  Badge,
  Button,
  Group,
  Select,
  Stack,
  Switch,
  Text,
  TextInput,
  VisuallyHidden,
} from "@mantine/core";
import { IconInfoCircle } from "@tabler/icons-react";
import { useId, useState } from "react";
import type { ConfigValue, Environment } from "@/api/types";
import { hintOf, isChanged, shown } from "./draft";
import { environmentChoices } from "./environmentChoices";
import { FormSearch } from "./FormSearch";
import { parseNumber } from "./numbers";
import { type FormField, searchFields, sectionsOf, shortHelp, splitEssential } from "./schema";
import { canVary, readSeries } from "./series";
import { type ConfigDraft, inputId } from "./useConfigDraft";
import { VariedInput } from "./VariedInput";
import { VaryButton } from "./VaryButton";
import classes from "./fields.module.css";

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

interface ConfigFieldProps {
  field: FormField;
  typed: string | boolean | undefined;
  /** Value in the preset or in the forked run. */
  reference: ConfigValue | undefined;
  error: string | undefined;
  environments: readonly Environment[];
  /** Title of the method. */
  method: string;
  /** True if several values are allowed. They make a study. */
  several?: boolean;
  onType: (typed: string | boolean) => void;
  onLeave: () => void;
  onReset: () => void;
}

/** Input for one hyperparameter with its name, description, range, default and changes. */
function ConfigField(props: ConfigFieldProps) {
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
  const [isExplained, setExplained] = useState(false);
  const detailsId = useId();
  return (
    <div className={classes.field} data-changed={changed || undefined} data-variable={variable || undefined}>
      {varied ? (
        <VariedInput
          id={inputId(field.name)}
          label={<FieldLabel field={field} />}
          field={{ ...field, help: shortHelp(field.help) }}
          {...{ typed, error, environments, method, onType, onLeave }}
        />
      ) : (
        <ConfigInput {...props} />
      )}
      <Group gap={4} className={classes.tools}>
        <ActionIcon
          size={24}
          variant="subtle"
          color="gray"
          aria-label={`About ${field.title}`}
          aria-expanded={isExplained}
          aria-controls={detailsId}
          onClick={() => setExplained(!isExplained)}
        >
          <IconInfoCircle size={16} />
        </ActionIcon>
        {variable && <VaryButton title={field.title} varied={varied} onClick={vary} />}
      </Group>
      <Text size="xs" c="dimmed" id={detailsId} className={classes.details} hidden={!isExplained}>
        {detailsOf(field)}
      </Text>
      {changed && (
        <Group gap={8} className={classes.fieldFoot} wrap="nowrap">
          <Text size="xs" component="span">
            Changed from {shown(before)}
          </Text>
          <Button
            size="compact-xs"
            variant="subtle"
            onClick={() => {
              setVarying(false);
              onReset();
            }}
          >
            Reset <VisuallyHidden>{field.title}</VisuallyHidden>
          </Button>
        </Group>
      )}
    </div>
  );
}

/** Return the whole help of a field with its range and default. */
function detailsOf(field: FormField): string {
  const allowed = [hintOf(field), `default ${shown(field.initial)}`].filter(Boolean).join(" · ");
  return [field.help, allowed].filter(Boolean).join(" ");
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
  const shared = { id: inputId(field.name), label, description: shortHelp(field.help), error };
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
