import { Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { ExpressionField } from "@/ui/ExpressionField";
import { computedId } from "./computedColumns";

const MAX_TITLE = 60;

interface ComputedColumnFormProps {
  onAdd: (id: string) => void;
  onCancel: () => void;
}

/** Form for a column with a number that is calculated for each run. */
export function ComputedColumnForm({ onAdd, onCancel }: ComputedColumnFormProps) {
  const [title, setTitle] = useState("");
  const [checked, setChecked] = useState<string | null>(null);
  const add = (expression: string) => {
    if (expression) onAdd(computedId({ title: title.trim(), expression }));
  };
  return (
    <Stack gap="xs" p="sm">
      <Text size="sm" fw={600}>
        Add computed column
      </Text>
      <div>
        <ExpressionField
          kind="value"
          label="Expression"
          placeholder="best_return / hours"
          value=""
          autoFocus
          onApply={add}
          onCheck={setChecked}
        />
      </div>
      <Text size="xs" c="dimmed">
        Use numbers of the run, settings and metrics, such as <code>best_return / hours</code> or{" "}
        <code>max(train/entropy) - last(train/entropy)</code>.
      </Text>
      <TextInput
        size="xs"
        label="Title"
        placeholder="The expression"
        maxLength={MAX_TITLE}
        value={title}
        // An equals sign ends the title in the URL.
        onChange={(event) => setTitle(event.currentTarget.value.replaceAll("=", ""))}
        onKeyDown={(event) => event.key === "Enter" && checked && add(checked)}
      />
      <Group gap="xs" justify="flex-end">
        <Button size="xs" variant="default" onClick={onCancel}>
          Cancel
        </Button>
        <Button size="xs" disabled={checked === null} onClick={() => checked && add(checked)}>
          Add column
        </Button>
      </Group>
    </Stack>
  );
}
