import { Alert, Button, Text } from "@mantine/core";
import classes from "./reports.module.css";

interface NotSavedProps {
  /** What keeps it from being saved, or that it is being saved. */
  words: string;
  held: boolean;
  edit: () => void;
}

/** Says above a report that what was typed last is not in it. */
export function NotSaved({ words, held, edit }: NotSavedProps) {
  if (!held)
    return (
      <span className={classes.state} role="status">
        {words}
      </span>
    );
  return (
    <Alert color="yellow" variant="light" title={words}>
      <Text size="sm">Below is the report as it was saved last.</Text>
      <Button size="xs" mt="xs" onClick={edit}>
        Go on editing
      </Button>
    </Alert>
  );
}
