import { Button, CloseButton, Input, SegmentedControl, Select, Stack, TextInput } from "@mantine/core";
import { useState } from "react";
import { isWholeBetween } from "@/config-form/numbers";
import { countForced, type Draft, formatRepeated, MAX_FORCED, mergeRepeated, type Repeated } from "./draft";
import classes from "./futures.module.css";

interface ForcedActionsProps {
  /** Names of the environment's actions. Empty if they are numbers, which cannot be forced. */
  names: readonly string[];
  draft: Draft;
  error: string | undefined;
  onChange: (change: Partial<Draft>) => void;
}

const FORCING: { value: Draft["forcing"]; label: string }[] = [
  { value: "none", label: "Agent's own" },
  { value: "each", label: "Each in turn" },
  { value: "sequence", label: "Sequence" },
];
const DESCRIPTIONS: Record<Draft["forcing"], string> = {
  none: "The agent acts freely from here.",
  each: "Compare each action first, with the same random numbers.",
  sequence: "Every future begins with these actions.",
};

/** Choice of the first actions: free, each in turn, or a sequence. */
export function ForcedActions({ names, draft, error, onChange }: ForcedActionsProps) {
  const { forcing, sequence } = draft;
  if (names.length === 0)
    return (
      <Input.Wrapper
        label="First actions"
        labelElement="div"
        description="Actions of this environment are numbers and cannot be forced."
      />
    );
  return (
    <Input.Wrapper
      label="First actions"
      labelElement="div"
      description={DESCRIPTIONS[forcing]}
      inputWrapperOrder={["label", "input", "description", "error"]}
      error={error}
    >
      <Stack gap={8} mb={4}>
        <SegmentedControl
          size="xs"
          fullWidth
          aria-label="First actions"
          data={FORCING}
          value={forcing}
          onChange={(value) => onChange({ forcing: value })}
        />
        {forcing === "sequence" && (
          <Sequence
            names={names}
            sequence={sequence}
            onChange={(next) => onChange({ sequence: mergeRepeated(next) })}
          />
        )}
      </Stack>
    </Input.Wrapper>
  );
}

interface SequenceProps {
  names: readonly string[];
  sequence: readonly Repeated[];
  onChange: (sequence: readonly Repeated[]) => void;
}

/** Builder of a sequence such as LEFT × 10, FIRE. */
function Sequence({ names, sequence, onChange }: SequenceProps) {
  const [action, setAction] = useState(names[0] ?? "");
  const [times, setTimes] = useState("1");
  const room = MAX_FORCED - countForced(sequence);
  const valid = isWholeBetween(times, 1, room);
  const problem = room > 0 ? `Enter 1 to ${room}.` : `At most ${MAX_FORCED} actions.`;
  return (
    <>
      {sequence.length > 0 && (
        <ol className={classes.chips} aria-label="Sequence">
          {sequence.map((repeated, at) => (
            <li key={at} className={classes.chip}>
              {formatRepeated(repeated)}
              <CloseButton
                size={24}
                iconSize={12}
                aria-label={`Remove ${formatRepeated(repeated)}`}
                onClick={() => onChange(sequence.filter((_, other) => other !== at))}
              />
            </li>
          ))}
        </ol>
      )}
      <div className={classes.add}>
        <Select
          label="Action"
          size="xs"
          data={names}
          value={action}
          allowDeselect={false}
          onChange={(name) => setAction(name ?? action)}
        />
        <TextInput
          label="Times"
          size="xs"
          inputMode="numeric"
          value={times}
          error={!valid}
          onChange={(event) => setTimes(event.currentTarget.value)}
        />
        <Button
          size="xs"
          variant="default"
          disabled={!valid}
          onClick={() => onChange([...sequence, { action, times: Number(times) }])}
        >
          Add
        </Button>
      </div>
      {!valid && <Input.Error>{problem}</Input.Error>}
    </>
  );
}
