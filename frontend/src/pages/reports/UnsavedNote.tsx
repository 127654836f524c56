import { Alert, Button, Text } from "@mantine/core";
import classes from "./reports.module.css";

interface UnsavedNoteProps {
  /** Reason why the draft is not saved, or a note that it is being saved. */
  words: string;
  held: boolean;
  edit: () => void;
}

/** Note above a report that the last changes are not saved. */
export function UnsavedNote({ words, held, edit }: UnsavedNoteProps) {
  if (!held)
    return (
      <span className={classes.state} role="status">
        {words}
      </span>
    );
  return (
    <Alert color="yellow" variant="light" title={words}>
      <Text size="sm">This is the last saved version.</Text>
      <Button size="xs" mt="xs" onClick={edit}>
        Continue editing
      </Button>
    </Alert>
  );
}
