import { Button, Dialog, Group, Text } from "@mantine/core";
import { useNavigate } from "react-router";
import { useMayWrite } from "@/api/projects";

interface Stop {
  to: string;
  title: string;
  text: string;
}

const STOPS: readonly Stop[] = [
  {
    to: "/",
    title: "Find and compare runs",
    text: "Each run has a row here with its progress and return. Type a filter such as “return > 100”, or select several runs and press “Compare”.",
  },
  {
    to: "/launch",
    title: "Launch a run",
    text: "Choose an environment and a method, or a preset that is known to learn. The run starts as soon as a worker is free, and its curves appear within seconds.",
  },
  {
    to: "/games",
    title: "Rank agents",
    text: "An evaluation plays a checkpoint by the rules of a paper. The Games page ranks the scores with the published ones, and lets you play against them.",
  },
  {
    to: "/papers",
    title: "Read how it works",
    text: "Each method has a page with its pseudocode, its figures, and presets that repeat the experiments of its paper.",
  },
  {
    to: "/reports",
    title: "Write down results",
    text: "A report holds text, charts, tables and replays. Share it by a link, or export it as one file.",
  },
  {
    to: "/examples",
    title: "Look at trained agents",
    text: "“Open examples” imports runs of trained agents with their replays, and a report about them. You can open them at any time.",
  },
  {
    to: "/workers",
    title: "Add machines",
    text: "Workers train the runs. This page shows the command that adds another machine, with or without a GPU.",
  },
];

interface TourProps {
  /** Number of the stop, from 1. 0 shows nothing. */
  number: number;
  onChange: (number: number) => void;
}

/** Short tour of the pages: a dialog in the corner that opens each page and says what it is for. */
export function Tour({ number, onChange }: TourProps) {
  const navigate = useNavigate();
  const mayWrite = useMayWrite();
  const stops = STOPS.filter(({ to }) => mayWrite || to !== "/launch");
  const go = (next: number) => {
    const stop = stops[next - 1];
    if (stop) void navigate(stop.to);
    onChange(next);
  };
  const stop = stops[number - 1];
  if (!stop) return null;
  return (
    <Dialog
      opened
      withBorder
      size="lg"
      transitionProps={{ duration: 0 }}
      role="dialog"
      aria-label="Tour"
      position={{ bottom: 16, right: 16 }}
      maw="calc(100vw - 32px)"
    >
      <Text size="xs" c="dimmed">
        {number} of {stops.length}
      </Text>
      <Text fw={600} aria-live="polite">
        {stop.title}
      </Text>
      <Text size="sm" my="xs">
        {stop.text}
      </Text>
      <Group justify="space-between">
        <Button size="xs" variant="subtle" onClick={() => onChange(0)}>
          End tour
        </Button>
        <Group gap="xs">
          {number > 1 && (
            <Button size="xs" variant="default" onClick={() => go(number - 1)}>
              Back
            </Button>
          )}
          {number < stops.length ? (
            <Button size="xs" onClick={() => go(number + 1)}>
              Next
            </Button>
          ) : (
            <Button size="xs" onClick={() => onChange(0)}>
              Finish
            </Button>
          )}
        </Group>
      </Group>
    </Dialog>
  );
}
