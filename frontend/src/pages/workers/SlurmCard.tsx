import { Button, Code, Group, NumberInput, Stack, Text, Textarea, TextInput, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { slurmQuery, useCheckSlurm, useSaveSlurm } from "@/api/executors";
import type { SlurmSettings } from "@/api/types";
import { FormErrors } from "@/ui/FormErrors";

/** A field of the settings, as the JSON Schema of the server describes it. */
interface FormField {
  title?: string;
  description?: string;
  type?: string;
  default?: string | number;
  maxLength?: number;
}

/** Fields with more than one line. */
const LONG_TEXT = 10_000;

/** Settings of Slurm, with a button that checks them with a job. */
export function SlurmCard() {
  const { data } = useQuery(slurmQuery);
  const [isOpen, setIsOpen] = useState(false);
  if (!data) return null;
  const fields = (data.form as { properties: Record<string, FormField> }).properties;
  return (
    <Stack component="section" gap="xs" aria-label="Slurm">
      <Title order={2}>Slurm</Title>
      <Text size="sm" c="dimmed">
        {data.settings
          ? "Runs can train in jobs of this Slurm cluster."
          : "If this server can call sbatch, runs can train in jobs of a Slurm cluster."}
      </Text>
      {isOpen ? (
        <SlurmForm fields={fields} stored={data.settings} />
      ) : (
        <Group>
          <Button variant="default" onClick={() => setIsOpen(true)}>
            {data.settings ? "Change settings" : "Set up Slurm"}
          </Button>
        </Group>
      )}
    </Stack>
  );
}

function SlurmForm({ fields, stored }: { fields: Record<string, FormField>; stored: SlurmSettings | null }) {
  const [values, setValues] = useState<Record<string, string | number>>(() => ({
    ...Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field.default ?? ""])),
    backend_url: window.location.origin,
    ...stored,
  }));
  const save = useSaveSlurm();
  const check = useCheckSlurm();
  const settings = values as unknown as SlurmSettings;
  const problems = [save.error, check.error].flatMap((error) => (error ? [error.message] : []));
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate(settings);
      }}
    >
      <Stack gap="sm" maw={640}>
        {Object.entries(fields).map(([name, field]) => (
          <Field
            key={name}
            field={field}
            value={values[name] ?? ""}
            onChange={(value) => setValues({ ...values, [name]: value })}
          />
        ))}
        <FormErrors messages={problems} />
        <Group>
          <Button type="submit" loading={save.isPending}>
            Save settings
          </Button>
          <Button variant="default" loading={check.isPending} onClick={() => check.mutate(settings)}>
            Test with a job
          </Button>
        </Group>
        {save.isSuccess && !save.isPending && <Text size="sm">The settings are saved.</Text>}
        {check.data && !check.isPending && (
          <div role="status">
            <Text size="sm" c={check.data.ok ? undefined : "var(--mantine-color-error)"}>
              {check.data.message}
            </Text>
            {check.data.output && <Code block>{check.data.output}</Code>}
          </div>
        )}
      </Stack>
    </form>
  );
}

interface FieldProps {
  field: FormField;
  value: string | number;
  onChange: (value: string | number) => void;
}

function Field({ field, value, onChange }: FieldProps) {
  const shared = { label: field.title, description: field.description };
  if (field.type === "integer") {
    return <NumberInput {...shared} value={value} allowDecimal={false} onChange={onChange} />;
  }
  if ((field.maxLength ?? 0) > LONG_TEXT) {
    return (
      <Textarea
        {...shared}
        autosize
        minRows={2}
        value={value}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      />
    );
  }
  return (
    <TextInput {...shared} value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)} />
  );
}
