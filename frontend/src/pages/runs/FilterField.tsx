import { Combobox, Text, TextInput, useCombobox } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconFilter } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { type KeyboardEvent, useRef, useState } from "react";
import { expressionQuery } from "@/api/runs";
import type { CheckedExpression } from "@/api/types";
import classes from "./FilterField.module.css";

const MAX_LENGTH = 2_000;
const CHECK_DELAY_MS = 150;
const MOST_SHOWN = 12;

type Completion = CheckedExpression["completions"][number];

interface FilterFieldProps {
  /** Filter in the URL. */
  filter: string;
  onFilter: (filter: string) => void;
}

/** Field for a filter such as "return > 15 and tag:good", with completions. The wrong part is underlined. */
export function FilterField({ filter, onFilter }: FilterFieldProps) {
  const [typed, setTyped] = useState(filter);
  const [seen, setSeen] = useState(filter);
  const [cursor, setCursor] = useState<number | null>(null);
  const input = useRef<HTMLInputElement>(null);
  const marks = useRef<HTMLDivElement>(null);
  const combobox = useCombobox({ onDropdownClose: () => combobox.resetSelectedOption() });
  // The URL may change otherwise, such as by the back button.
  if (filter !== seen) {
    setSeen(filter);
    setTyped(filter);
  }
  const place = toCharacters(typed, cursor ?? typed.length);
  const [asked] = useDebouncedValue({ typed, place }, CHECK_DELAY_MS);
  const { data } = useQuery({
    ...expressionQuery(asked.typed, asked.place),
    enabled: cursor !== null || asked.typed !== "",
  });
  // Completions of an earlier text would replace the wrong part.
  const checked = asked.typed === typed && asked.place === place ? data : undefined;
  const completions = checked?.completions.slice(0, MOST_SHOWN) ?? [];
  const error = typed.trim() === "" ? null : (checked?.error ?? null);
  // A word is not wrong yet while it is typed.
  const isTyped =
    error !== null &&
    combobox.dropdownOpened &&
    completions.length > 0 &&
    place >= error.position &&
    place <= error.position + error.length;
  const shownError = isTyped ? null : error;

  function apply() {
    if (typed.trim() === "" || (checked && !checked.error)) onFilter(typed.trim());
  }

  function insert(completion: Completion | undefined) {
    if (!completion || !checked) return;
    const characters = [...typed];
    const before = characters.slice(0, checked.position).join("") + completion.text;
    const after = characters.slice(checked.position + checked.length).join("");
    const spaced = /[(:]$/.test(completion.text) || after.startsWith(" ") ? before : `${before} `;
    setTyped(spaced + after);
    setCursor(spaced.length);
    requestAnimationFrame(() => input.current?.setSelectionRange(spaced.length, spaced.length));
    combobox.resetSelectedOption();
  }

  function onKey(event: KeyboardEvent<HTMLInputElement>) {
    if (
      event.key === "Tab" &&
      !event.shiftKey &&
      combobox.dropdownOpened &&
      completions.length > 0 &&
      typed
    ) {
      event.preventDefault();
      const index = Math.max(0, combobox.getSelectedOptionIndex());
      insert(completions[index]);
    } else if (event.key === "Enter" && combobox.getSelectedOptionIndex() < 0) {
      apply();
      combobox.closeDropdown();
    } else if (event.key === "Escape" && !combobox.dropdownOpened) setTyped(filter);
  }

  const follow = () => {
    setCursor(input.current?.selectionStart ?? null);
    if (marks.current && input.current) marks.current.scrollLeft = input.current.scrollLeft;
  };

  return (
    <div className={classes.field}>
      <Combobox
        store={combobox}
        onOptionSubmit={(text) => insert(completions.find((completion) => completion.text === text))}
      >
        <Combobox.Target>
          <TextInput
            ref={input}
            size="xs"
            aria-label="Filter expression"
            error={shownError !== null}
            aria-describedby={shownError ? "filter-problem" : undefined}
            placeholder="learning_rate < 1e-3 and return > 15"
            leftSection={<IconFilter size={14} aria-hidden />}
            classNames={{ input: classes.input }}
            value={typed}
            maxLength={MAX_LENGTH}
            spellCheck={false}
            autoComplete="off"
            onChange={(event) => {
              const { value, selectionStart } = event.currentTarget;
              setTyped(value);
              setCursor(selectionStart);
              combobox.openDropdown();
              combobox.resetSelectedOption();
              if (value === "") onFilter("");
            }}
            onFocus={() => {
              follow();
              combobox.openDropdown();
            }}
            onBlur={() => {
              apply();
              setCursor(null);
              combobox.closeDropdown();
            }}
            onSelect={follow}
            onScroll={follow}
            onKeyDown={onKey}
          />
        </Combobox.Target>
        <Combobox.Dropdown hidden={completions.length === 0}>
          <Combobox.Options aria-label="Completions" className={classes.options}>
            {completions.map((completion) => (
              <Combobox.Option key={`${completion.kind} ${completion.text}`} value={completion.text}>
                <code>{completion.text}</code>{" "}
                <Text span size="xs" c="dimmed" ml="xs">
                  {completion.title}
                </Text>
              </Combobox.Option>
            ))}
          </Combobox.Options>
        </Combobox.Dropdown>
      </Combobox>
      {shownError && (
        <WrongPart text={typed} position={shownError.position} length={shownError.length} ref={marks} />
      )}
      {shownError && (
        <Text id="filter-problem" size="xs" c="red" role="alert">
          {shownError.message}
        </Text>
      )}
    </div>
  );
}

interface WrongPartProps {
  text: string;
  position: number;
  length: number;
  ref: React.Ref<HTMLDivElement>;
}

/** The same text over the field, transparent but for a line under its wrong part. */
function WrongPart({ text, position, length, ref }: WrongPartProps) {
  const characters = [...text];
  // An error at the end is marked at the last character.
  const start = Math.min(position, Math.max(0, characters.length - 1));
  const end = Math.max(position + length, start + 1);
  return (
    <div ref={ref} className={classes.marks} aria-hidden>
      {characters.slice(0, start).join("")}
      <mark>{characters.slice(start, end).join("")}</mark>
      {characters.slice(end).join("")}
    </div>
  );
}

/** Convert a place in a JavaScript string to a number of Unicode characters, which the API counts. */
function toCharacters(text: string, place: number): number {
  return [...text.slice(0, place)].length;
}
