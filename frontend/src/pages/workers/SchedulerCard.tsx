import { Button, Code, Group, NumberInput, Stack, Text, Textarea, TextInput, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { schedulerQuery, schedulerTitle, useCheckScheduler, useSaveScheduler } from "@/api/executors";
import type { SchedulerName, SchedulerSettings } from "@/api/types";
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

const SCHEDULERS: Record<SchedulerName, { isSetUp: string; isMissing: string }> = {
  slurm: {
    isSetUp: "Runs can train in jobs of this Slurm cluster.",
    isMissing: "If this server can call sbatch, runs can train in jobs of a Slurm cluster.",
  },
  ray: {
    isSetUp: "Runs can train in jobs of this Ray cluster.",
    isMissing: "If this server reaches the dashboard of a Ray cluster, runs can train in its jobs.",
  },
};

/** Settings of a scheduler, with a button that checks them with a job. */
export function SchedulerCard({ name }: { name: SchedulerName }) {
  const { data } = useQuery(schedulerQuery(name));
  const [isOpen, setIsOpen] = useState(false);
  if (!data) return null;
  const { isSetUp, isMissing } = SCHEDULERS[name];
  const title = schedulerTitle(name);
  const fields = (data.form as { properties: Record<string, FormField> }).properties;
  return (
    <Stack component="section" gap="xs" aria-label={title}>
      <Title order={2}>{title}</Title>
      <Text size="sm" c="dimmed">
        {data.settings ? isSetUp : isMissing}
      </Text>
      {isOpen ? (
        <SchedulerForm name={name} fields={fields} stored={data.settings} />
      ) : (
        <Group>
          <Button variant="default" onClick={() => setIsOpen(true)}>
            {data.settings ? `Change settings of ${title}` : `Set up ${title}`}
          </Button>
        </Group>
      )}
    </Stack>
  );
}

interface SchedulerFormProps {
  name: SchedulerName;
  fields: Record<string, FormField>;
  stored: SchedulerSettings | null;
}

function SchedulerForm({ name, fields, stored }: SchedulerFormProps) {
  const [values, setValues] = useState<Record<string, string | number>>(() => ({
    ...Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field.default ?? ""])),
    backend_url: window.location.origin,
    ...stored,
  }));
  const save = useSaveScheduler(name);
  const check = useCheckScheduler(name);
  const settings = values as unknown as SchedulerSettings;
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
