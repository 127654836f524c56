import { Button, Menu, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { anomalyRulesQuery } from "@/api/marks";
import { MARK_KINDS } from "@/charts/marks/markKinds";
import { useHiddenMarks } from "./useHiddenMarks";

/** Menu that shows and hides kinds of marks, and turns the rules of anomalies off. */
export function MarkMenu() {
  const [hidden, toggle] = useHiddenMarks();
  const { data: rules = [] } = useQuery(anomalyRulesQuery);
  const item = (name: string, title: string, explanation?: string) => (
    <Menu.CheckboxItem key={name} checked={!hidden.includes(name)} onChange={() => toggle(name)}>
      {title}
      {explanation && (
        <Text size="xs" c="dimmed">
          {explanation}
        </Text>
      )}
    </Menu.CheckboxItem>
  );
  return (
    <Menu position="bottom-end" width={320}>
      <Menu.Target>
        <Button size="compact-sm" variant="default">
          Marks
        </Button>
      </Menu.Target>
      <Menu.Dropdown mah={420} style={{ overflowY: "auto" }}>
        <Menu.Label>On the curve of the return</Menu.Label>
        {Object.entries(MARK_KINDS).map(([name, title]) => item(name, title))}
        <Menu.Label>Anomalies</Menu.Label>
        {rules.map(({ name, title, explanation }) => item(name, title, explanation))}
      </Menu.Dropdown>
    </Menu>
  );
}
