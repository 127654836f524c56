import { Anchor, Button, Group, List, Paper, SimpleGrid, Stack, Text, Title } from "@mantine/core";
import { IconPlayerPlayFilled, IconRoute } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useContext } from "react";
import { Link, useNavigate } from "react-router";
import { isSubmitted } from "@/api/mutationState";
import { useLaunchRun } from "@/api/runs";
import { presetsQuery } from "@/api/configuration";
import type { Preset } from "@/api/types";
import { ABOUT_EXAMPLES, OpenExamples } from "@/run-actions/OpenExamples";
import { short, shortEnv } from "@/ui/format";
import { isCalm } from "@/ui/isCalm";
import { QueryError } from "@/ui/QueryError";
import { TourContext } from "@/ui/tour";
import classes from "./runs.module.css";
import cartPole from "./videos/paac-cartpole.mp4";
import pong from "./videos/paac-pong.mp4";

/** Episodes of agents that were trained with these presets. */
const VIDEOS: Partial<Record<string, string>> = { "paac-cartpole": cartPole, "paac-pong": pong };

const FIRST_PRESETS = ["paac-cartpole", "paac-pong"];

const STEPS = [
  "Press “Start this run”. A worker on this machine takes it within seconds.",
  "Its curve appears while it trains: the return rises as the agent learns.",
  "Each checkpoint has a replay that you can play step by step. You can also watch the agent live.",
];

interface FirstRunProps {
  /** Called with true when a run is started, until its page is open, and with false if it could not be started. */
  onStarting: (isStarting: boolean) => void;
  children: ReactNode;
}

/** Start page of a new installation: two runs that start with one click, and the examples. */
export function FirstRun({ onStarting, children }: FirstRunProps) {
  const presets = useQuery(presetsQuery);
  const navigate = useNavigate();
  const launch = useLaunchRun();
  const startTour = useContext(TourContext);
  function start(preset: string) {
    onStarting(true);
    launch.mutate(
      { preset },
      { onSuccess: (run) => void navigate(`/runs/${run.id}`), onError: () => onStarting(false) },
    );
  }
  const offered = FIRST_PRESETS.flatMap(
    (name) => presets.data?.filter((preset) => preset.name === name) ?? [],
  );

  return (
    <Stack maw={880} mx="auto" py={48} px="md" gap="lg">
      <Stack gap={4}>
        <Group justify="space-between">
          <Title order={1}>Start your first run</Title>
          <Button variant="subtle" leftSection={<IconRoute size={16} />} onClick={startTour}>
            Take a tour
          </Button>
        </Group>
        <List type="ordered" c="dimmed" spacing={2}>
          {STEPS.map((step) => (
            <List.Item key={step}>{step}</List.Item>
          ))}
        </List>
      </Stack>
      {presets.isError && <QueryError error={presets.error} retry={() => void presets.refetch()} />}
      {launch.isError && <QueryError error={launch.error} />}
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="md">
        {offered.map((preset) => (
          <PresetCard
            key={preset.name}
            preset={preset}
            busy={isSubmitted(launch) && launch.variables?.preset === preset.name}
            onStart={() => start(preset.name)}
          />
        ))}
      </SimpleGrid>
      <Paper withBorder p="lg" component="article">
        <Group justify="space-between" gap="md">
          <Stack gap="xs" style={{ flex: "1 1 320px" }}>
            <Title order={2}>Look at trained agents</Title>
            <Text size="sm">{ABOUT_EXAMPLES}</Text>
          </Stack>
          <OpenExamples />
        </Group>
      </Paper>
      <Text size="sm">
        Or{" "}
        <Anchor component={Link} to="/launch" inherit>
          configure a run yourself
        </Anchor>
        , or open an archive file:
      </Text>
      <Group>{children}</Group>
    </Stack>
  );
}

function PresetCard({ preset, busy, onStart }: { preset: Preset; busy: boolean; onStart: () => void }) {
  const { config } = preset;
  return (
    <Paper withBorder p="lg" component="article">
      <Stack gap="md" h="100%" justify="space-between" align="flex-start">
        <Stack gap="xs">
          {VIDEOS[preset.name] && (
            <video
              className={`pixelated ${classes.cardVideo}`}
              src={VIDEOS[preset.name]}
              aria-label={`A trained agent: ${preset.title}`}
              autoPlay={!isCalm()}
              muted
              loop
              playsInline
            />
          )}
          <Title order={2}>{preset.title}</Title>
          <Text size="sm">{preset.shows}</Text>
          <Text size="xs" c="dimmed">
            {shortEnv(String(config.env))} · {short(Number(config.total_steps), "steps")} ·{" "}
            {String(config.num_envs)} environments. {preset.source}
          </Text>
        </Stack>
        <Button
          leftSection={<IconPlayerPlayFilled size={14} />}
          loading={busy}
          onClick={onStart}
          aria-label={`Start this run: ${preset.title}`}
        >
          Start this run
        </Button>
      </Stack>
    </Paper>
  );
}
