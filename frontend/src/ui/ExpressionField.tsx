import { Combobox, Text, TextInput, useCombobox } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconFilter, IconMathFunction } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import {
  type KeyboardEvent,
  type RefObject,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { type ExpressionKind, expressionQuery } from "@/api/runs";
import type { CheckedExpression } from "@/api/types";
import classes from "./ExpressionField.module.css";

const MAX_LENGTH = 2_000;
const CHECK_DELAY_MS = 150;
const MOST_SHOWN = 12;

type Completion = CheckedExpression["completions"][number];

interface ExpressionFieldProps {
  /** A filter is a condition, a computed column a value. */
  kind: ExpressionKind;
  label: string;
  placeholder: string;
  /** The expression that applies. */
  value: string;
  /** Called with a right expression, after Enter. */
  onApply: (expression: string) => void;
  /** True to apply the expression also when the field loses the focus. */
  appliesOnBlur?: boolean;
  /** True to focus the field when it appears. */
  autoFocus?: boolean;
  /** Called with the expression while it is right, otherwise with null. */
  onCheck?: (expression: string | null) => void;
}

/** Field for an expression such as "return > 15 and tag:good", with completions. The wrong part is underlined. */
export function ExpressionField(props: ExpressionFieldProps) {
  const { kind, value, onApply, onCheck } = props;
  const [typed, setTyped] = useState(value);
  const [seen, setSeen] = useState(value);
  const [cursor, setCursor] = useState<number | null>(null);
  const problemId = useId();
  const Icon = kind === "condition" ? IconFilter : IconMathFunction;
  const input = useRef<HTMLInputElement>(null);
  const marks = useRef<HTMLDivElement>(null);
  const combobox = useCombobox({ onDropdownClose: () => combobox.resetSelectedOption() });
  // The URL may change otherwise, such as by the back button.
  if (value !== seen) {
    setSeen(value);
    setTyped(value);
  }
  const place = toCharacters(typed, cursor ?? typed.length);
  const [asked] = useDebouncedValue({ typed, place }, CHECK_DELAY_MS);
  const { data } = useQuery({
    ...expressionQuery(asked.typed, asked.place, kind),
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

  // True to apply the expression after the server has checked it.
  const isWaiting = useRef(false);
  const right = typed.trim() !== "" && checked && !checked.error ? typed.trim() : null;
  useEffect(() => onCheck?.(right), [right, onCheck]);

  useEffect(() => {
    if (!checked || !isWaiting.current) return;
    isWaiting.current = false;
    if (right !== null) onApply(right);
  });

  function apply() {
    if (typed.trim() === "" || right !== null) onApply(typed.trim());
    else isWaiting.current = true;
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
      event.preventDefault();
      apply();
      combobox.closeDropdown();
    } else if (event.key === "Escape" && !combobox.dropdownOpened && props.appliesOnBlur) setTyped(value);
  }

  const alignMarks = () => {
    if (marks.current && input.current) marks.current.scrollLeft = input.current.scrollLeft;
  };
  const follow = () => {
    setCursor(input.current?.selectionStart ?? null);
    alignMarks();
  };
  // A long text may have been scrolled before the marks appear, and is not scrolled back with an event.
  useLayoutEffect(alignMarks);

  return (
    <div className={classes.field}>
      <Combobox
        store={combobox}
        withinPortal={kind === "condition"}
        onOptionSubmit={(text) => insert(completions.find((completion) => completion.text === text))}
      >
        <Combobox.Target>
          <TextInput
            ref={input}
            size="xs"
            autoFocus={props.autoFocus}
            aria-label={props.label}
            error={shownError !== null}
            aria-describedby={shownError ? problemId : undefined}
            placeholder={props.placeholder}
            leftSection={<Icon size={14} aria-hidden />}
            classNames={{ input: classes.input }}
            value={typed}
            maxLength={MAX_LENGTH}
            spellCheck={false}
            autoComplete="off"
            onChange={(event) => {
              const { value: text, selectionStart } = event.currentTarget;
              setTyped(text);
              isWaiting.current = false;
              setCursor(selectionStart);
              combobox.openDropdown();
              combobox.resetSelectedOption();
              if (text === "" && props.appliesOnBlur) onApply("");
            }}
            onFocus={() => {
              follow();
              combobox.openDropdown();
            }}
            onBlur={() => {
              if (props.appliesOnBlur) apply();
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
      {!shownError && props.appliesOnBlur && right !== null && right !== value && (
        <Text size="xs" c="dimmed" className={classes.hint}>
          Press Enter to apply
        </Text>
      )}
      {shownError && (
        <WrongPart text={typed} position={shownError.position} length={shownError.length} marks={marks} />
      )}
      {shownError && (
        <Text id={problemId} size="xs" c="var(--mantine-color-error)" role="alert">
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
  marks: RefObject<HTMLDivElement | null>;
}

/** The same text over the field, transparent except for a line under its wrong part. */
function WrongPart({ text, position, length, marks }: WrongPartProps) {
  const characters = [...text];
  // An error at the end, where something is missing, is marked at the last word.
  const start = length > 0 ? position : toCharacters(text, Math.max(0, text.search(/[\w.]+\W*$/)));
  const end = length > 0 ? position + length : characters.length;
  return (
    <div ref={marks} className={classes.marks} aria-hidden>
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
