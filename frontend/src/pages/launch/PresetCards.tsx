import { Group, Radio, Stack, Text, TextInput } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { useState } from "react";
import type { Environment, Preset } from "@/api/types";
import { short } from "@/ui/format";
import classes from "./launch.module.css";
import { PresetDifferences } from "./PresetDifferences";
import { foundPresets } from "./presetSearch";

interface PresetCardsProps {
  presets: readonly Preset[];
  environments: readonly Environment[];
  /** Without a search, the presets of this method are offered. */
  algorithm: string | undefined;
  chosen: string | null;
  onChoose: (name: string) => void;
}

/** Ready-made configurations, and the source of the chosen one. */
export function PresetCards({ presets, environments, algorithm, chosen, onChoose }: PresetCardsProps) {
  const [text, setText] = useState("");
  const titleOf = (env: string) => environments.find(({ id }) => id === env)?.title ?? env;
  const preset = presets.find(({ name }) => name === chosen);
  const groups = foundPresets(presets, text, algorithm, titleOf);
  return (
    <Stack gap={8} component="section" aria-label="Presets">
      <Group justify="space-between" gap="xs">
        <Text component="h2" size="sm" fw={600}>
          Start from
        </Text>
        <TextInput
          type="search"
          size="xs"
          className={classes.presetSearch}
          leftSection={<IconSearch size={14} aria-hidden />}
          placeholder={`Search all ${presets.length} presets`}
          aria-label="Search presets of every method"
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          // It would launch a run: the search stands in the form.
          onKeyDown={(event) => event.key === "Enter" && event.preventDefault()}
        />
      </Group>
      <Radio.Group value={chosen} onChange={onChoose} aria-label="Preset to start from">
        <Stack gap="sm">
          {groups.map(({ method, members }) => (
            <div key={method}>
              {text.trim() !== "" && (
                <Text size="xs" c="dimmed" mb={4}>
                  {method}
                </Text>
              )}
              <div className={classes.presets}>
                {members.map((preset) => (
                  <PresetCard
                    key={preset.name}
                    preset={preset}
                    game={titleOf(String(preset.config["env"]))}
                  />
                ))}
              </div>
            </div>
          ))}
          {groups.length === 0 && (
            <Text size="sm" c="dimmed">
              {text.trim() === ""
                ? "This method has no preset: the form begins with its defaults."
                : `No preset has “${text.trim()}” in its name, game or method.`}
            </Text>
          )}
        </Stack>
      </Radio.Group>
      {preset?.source && (
        <Text size="xs" c="dimmed">
          Source: {preset.source}
        </Text>
      )}
      {preset && preset.differences.length > 0 && <PresetDifferences rows={preset.differences} />}
    </Stack>
  );
}

function PresetCard({ preset, game }: { preset: Preset; game: string }) {
  const steps = preset.config["total_steps"];
  return (
    <Radio.Card value={preset.name} className={classes.preset}>
      <Stack gap={4}>
        <Text fw={600} size="sm">
          {preset.title}
        </Text>
        <Text size="sm">{preset.shows}</Text>
        <Text size="xs" c="dimmed">
          {game}
          {typeof steps === "number" && ` · ${short(steps, "steps")}`}
        </Text>
      </Stack>
    </Radio.Card>
  );
}
