import { Button, Group, Modal, SegmentedControl, Stack, Tabs, Text, Textarea } from "@mantine/core";
import { useState } from "react";
import { useParseConfig } from "@/api/configuration";
import type { ConfigValue, ParsedConfig, RunConfig } from "@/api/types";
import { configText, type TextFormat } from "@/config-form/configText";
import { sameValue, shown } from "@/config-form/draft";
import { type Variant, variantFor } from "@/config-form/schema";
import { CopyText } from "@/ui/CopyText";
import { plural, toSentence } from "@/ui/format";
import { FormErrors } from "@/ui/FormErrors";
import classes from "./launch.module.css";

interface ConfigTextModalProps {
  opened: boolean;
  values: RunConfig;
  variants: readonly Variant[];
  onApply: (values: RunConfig) => void;
  onClose: () => void;
}

/** Dialog to paste the settings of a run as YAML, TOML or JSON, and to copy them. */
export function ConfigTextModal({ opened, onClose, ...form }: ConfigTextModalProps) {
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      size="lg"
      title="Settings as text"
      closeButtonProps={{ "aria-label": "Close" }}
    >
      <Tabs defaultValue="paste" keepMounted={false}>
        <Tabs.List mb="md">
          <Tabs.Tab value="paste">Paste</Tabs.Tab>
          <Tabs.Tab value="copy">Copy</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="paste">
          <PasteText {...form} onClose={onClose} />
        </Tabs.Panel>
        <Tabs.Panel value="copy">
          <CopySettings values={form.values} />
        </Tabs.Panel>
      </Tabs>
    </Modal>
  );
}

const FORMATS: { value: TextFormat; label: string }[] = [
  { value: "yaml", label: "YAML" },
  { value: "toml", label: "TOML" },
  { value: "json", label: "JSON" },
];

function CopySettings({ values }: { values: RunConfig }) {
  const [format, setFormat] = useState<TextFormat>("yaml");
  const text = configText(values, format);
  return (
    <Stack gap="sm">
      <Group justify="space-between">
        <SegmentedControl
          size="xs"
          aria-label="Format"
          data={FORMATS}
          value={format}
          onChange={(chosen) => setFormat(chosen)}
        />
        <CopyText label={`Copy ${format.toUpperCase()}`} text={text} />
      </Group>
      <Textarea
        aria-label="Settings of this form"
        readOnly
        autosize
        minRows={8}
        maxRows={20}
        value={text}
        classNames={{ input: classes.configText }}
      />
    </Stack>
  );
}

function PasteText({ values, variants, onApply, onClose }: Omit<ConfigTextModalProps, "opened">) {
  const [text, setText] = useState("");
  const parse = useParseConfig();
  const parsed = parse.data;
  const changes = parsed ? changesOf(parsed, values) : {};
  const count = Object.keys(changes).length;
  return (
    <Stack gap="sm">
      <Textarea
        data-autofocus
        label="Settings"
        description="YAML, TOML or JSON, for example learning_rate: 0.001"
        autosize
        minRows={8}
        maxRows={16}
        maxLength={100_000}
        spellCheck={false}
        classNames={{ input: classes.configText }}
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value);
          parse.reset();
        }}
      />
      {parse.error && <FormErrors messages={[parse.error.message]} />}
      {parsed && <Result parsed={parsed} changes={changes} values={values} variants={variants} />}
      <Group justify="flex-end">
        {parsed && parsed.errors.length === 0 && count > 0 ? (
          <Button
            onClick={() => {
              onApply(changes);
              onClose();
            }}
          >
            Apply {plural(count, "setting")}
          </Button>
        ) : (
          <Button
            disabled={text.trim() === ""}
            loading={parse.isPending}
            onClick={() => parse.mutate({ text, base: values })}
          >
            Check settings
          </Button>
        )}
      </Group>
    </Stack>
  );
}

interface ResultProps {
  parsed: ParsedConfig;
  changes: RunConfig;
  values: RunConfig;
  variants: readonly Variant[];
}

/** Preview of a text: its changes, the settings that it cannot set, and its errors. */
function Result({ parsed, changes, values, variants }: ResultProps) {
  const { errors, unknown } = parsed;
  const fields = variantFor(variants, changes["algorithm"] ?? values["algorithm"])?.fields ?? [];
  const titleOf = (name: string) => fields.find((field) => field.name === name)?.title ?? name;
  const entries = Object.entries(changes);
  return (
    <Stack gap="xs" role="status">
      <FormErrors messages={errors.map(problemText)} />
      {unknown.length > 0 && (
        <Text size="sm" component="div">
          Left out:
          <ul className={classes.textProblems}>
            {unknown.map((problem) => (
              <li key={problem.field}>{problemText(problem)}</li>
            ))}
          </ul>
        </Text>
      )}
      {errors.length === 0 && entries.length === 0 && (
        <Text size="sm">These settings would change nothing.</Text>
      )}
      {entries.length > 0 && (
        <Text size="sm" component="div">
          Changes:
          <ul className={classes.textProblems}>
            {entries.map(([name, value]) => (
              <li key={name}>
                {name === "algorithm" ? "Method" : titleOf(name)}: {shown(values[name])} → {shown(value)}
              </li>
            ))}
          </ul>
        </Text>
      )}
    </Stack>
  );
}

function problemText({ line, field, message }: ParsedConfig["errors"][number]): string {
  const place = [line === null ? "" : `line ${line}`, field ?? ""].filter(Boolean).join(", ");
  const text = place ? `${place}: ${message}` : message;
  return toSentence(text);
}

/** Return the parsed values that differ from the form's. */
function changesOf(parsed: ParsedConfig, values: RunConfig): Record<string, ConfigValue> {
  const given = parsed.values as Record<string, ConfigValue>;
  return Object.fromEntries(Object.entries(given).filter(([name, value]) => !sameValue(value, values[name])));
}
