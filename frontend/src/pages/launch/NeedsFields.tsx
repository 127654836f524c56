import { Checkbox, Fieldset, SimpleGrid, TagsInput, Text, TextInput } from "@mantine/core";
import { inputId } from "@/config-form/useConfigDraft";
import { AMOUNTS, type TypedNeeds } from "./needs";

interface NeedsFieldsProps {
  needs: TypedNeeds;
  isInterruptible: boolean;
  error: string | undefined;
  onNeeds: (needs: TypedNeeds) => void;
  onInterruptible: (isInterruptible: boolean) => void;
}

/** Needs of a run, and whether others may take its place. */
export function NeedsFields({ needs, isInterruptible, error, onNeeds, onInterruptible }: NeedsFieldsProps) {
  return (
    <Fieldset legend="Host" p="sm">
      <Text size="xs" c="dimmed" mb="xs">
        Without a value, memory is measured from earlier runs, and cores are shared by the runs of a host.
      </Text>
      <SimpleGrid cols={{ base: 1, xs: 3 }} spacing="xs">
        {AMOUNTS.map(([name, label]) => (
          <TextInput
            key={name}
            id={inputId(`needs.${name}`)}
            label={label}
            inputMode="decimal"
            value={needs[name]}
            onChange={(event) => onNeeds({ ...needs, [name]: event.currentTarget.value })}
          />
        ))}
      </SimpleGrid>
      <TagsInput
        id={inputId("needs")}
        mt="xs"
        label="Labels"
        description="Only hosts with all of them train it. The page Workers gives labels to hosts."
        value={needs.labels}
        error={error}
        maxTags={10}
        onChange={(labels) => onNeeds({ ...needs, labels })}
      />
      <Checkbox
        mt="sm"
        label="Runs with a higher priority may take its place"
        description="It is saved, waits in the queue, and continues."
        checked={isInterruptible}
        onChange={(event) => onInterruptible(event.currentTarget.checked)}
      />
    </Fieldset>
  );
}
