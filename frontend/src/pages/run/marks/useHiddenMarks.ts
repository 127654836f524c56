import { useLocalStorage } from "@mantine/hooks";

/** Return the names of the marks that are hidden in this browser, and a function that shows or hides one. */
export function useHiddenMarks(): [readonly string[], (name: string) => void] {
  const [hidden, setHidden] = useLocalStorage<string[]>({
    key: "arcadia-hidden-marks",
    defaultValue: [],
    getInitialValueInEffect: false,
  });
  const toggle = (name: string) =>
    setHidden((now) => (now.includes(name) ? now.filter((other) => other !== name) : [...now, name]));
  return [hidden, toggle];
}
