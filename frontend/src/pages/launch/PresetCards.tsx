import { Badge, Group, Radio, Stack, Text } from "@mantine/core";
import { useState } from "react";
import type { Environment, Preset } from "@/api/types";
import { FormSearch } from "@/config-form/FormSearch";
import { short } from "@/ui/format";
import classes from "./launch.module.css";
import { PresetDifferences } from "./PresetDifferences";
import { foundPresets, originOf } from "./presetSearch";

interface PresetCardsProps {
  presets: readonly Preset[];
  environments: readonly Environment[];
  /** Presets of this method are shown without a search. */
  algorithm: string | undefined;
  /** The chosen environment. Its presets come first. */
  env: string;
  chosen: string | null;
  /** A preset found by search also changes the environment. */
  onChoose: (name: string, isFound: boolean) => void;
}

/** Cards to choose a preset, with the source of the chosen one. */
export function PresetCards({ presets, environments, algorithm, env, chosen, onChoose }: PresetCardsProps) {
  const [text, setText] = useState("");
  const titleOf = (env: string) => environments.find(({ id }) => id === env)?.title ?? env;
  const preset = presets.find(({ name }) => name === chosen);
  const familyOf = (id: string) => environments.find((known) => known.id === id)?.family.name;
  const near = { env, isLike: (id: string) => familyOf(id) === familyOf(env) };
  const groups = foundPresets(presets, text, algorithm, titleOf, near);
  const recommended = text.trim() === "" ? groups[0]?.members[0] : undefined;
  return (
    <Stack gap={8} component="section" aria-label="Presets">
      <Group justify="space-between" gap="xs">
        <Text component="h2" size="sm" fw={600}>
          Preset
        </Text>
        <FormSearch
          label="Search all presets"
          placeholder={`Search all ${presets.length} presets`}
          text={text}
          onType={setText}
        />
      </Group>
      <Radio.Group
        value={chosen}
        onChange={(name) => onChoose(name, text.trim() !== "")}
        aria-label="Preset to start from"
      >
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
                    isRecommended={preset === recommended && preset.config["env"] === env}
                  />
                ))}
              </div>
            </div>
          ))}
          {groups.length === 0 && (
            <Text size="sm" c="dimmed">
              {text.trim() === ""
                ? "This method has no preset for this environment. The form uses the method's defaults."
                : `No preset matches “${text.trim()}”.`}
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

interface PresetCardProps {
  preset: Preset;
  game: string;
  isRecommended: boolean;
}

function PresetCard({ preset, game, isRecommended }: PresetCardProps) {
  const origin = originOf(preset);
  const steps = preset.config["total_steps"];
  return (
    <Radio.Card value={preset.name} className={classes.preset}>
      <Stack gap={4}>
        <Text fw={600} size="sm">
          {preset.title}
        </Text>
        {(isRecommended || origin) && (
          <Group gap={4}>
            {isRecommended && (
              <Badge size="sm" variant="light" tt="none">
                Recommended
              </Badge>
            )}
            {origin && (
              <Badge size="sm" variant="default" tt="none">
                {origin === "Paper" ? "Paper's settings" : "Settings of published code"}
              </Badge>
            )}
          </Group>
        )}
        <Text size="sm">{preset.shows}</Text>
        <Text size="xs" c="dimmed">
          {game}
          {typeof steps === "number" && ` · ${short(steps, "steps")}`}
        </Text>
      </Stack>
    </Radio.Card>
  );
}
