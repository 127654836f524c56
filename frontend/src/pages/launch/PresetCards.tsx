import { Badge, Group, Radio, Stack, Text } from "@mantine/core";
import { useState } from "react";
import type { Environment, Preset } from "@/api/types";
import { FormSearch } from "@/config-form/FormSearch";
import { DataTable } from "@/ui/DataTable";
import { short } from "@/ui/format";
import classes from "./launch.module.css";

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
  const steps = preset.config["total_steps"];
  return (
    <Radio.Card value={preset.name} className={classes.preset}>
      <Stack gap={4}>
        <Text fw={600} size="sm">
          {preset.title}
        </Text>
        {(isRecommended || preset.origin !== "tuned") && (
          <Group gap={4}>
            {isRecommended && (
              <Badge size="sm" variant="light" tt="none">
                Recommended
              </Badge>
            )}
            {preset.origin !== "tuned" && (
              <Badge size="sm" variant="default" tt="none">
                {preset.origin === "paper" ? "Paper's settings" : "Settings of published code"}
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

const TITLE = "Differences from paper and code";

/** Table of fields whose values differ between a paper, its code and the preset. */
function PresetDifferences({ rows }: { rows: Preset["differences"] }) {
  return (
    <details>
      <Text component="summary" size="xs">
        {TITLE} ({rows.length} {rows.length === 1 ? "field" : "fields"})
      </Text>
      <DataTable
        label={TITLE}
        fz="xs"
        verticalSpacing={4}
        horizontalSpacing="xs"
        rows={rows}
        rowKey={({ field }) => field}
        columns={[
          {
            title: "Field",
            isRowHeader: true,
            cell: ({ title }) => title,
            cellProps: () => ({ fw: "bold" }),
          },
          { title: "Paper", cell: ({ paper }) => paper || "not stated" },
          { title: "Code", cell: ({ code }) => code || "not stated" },
          { title: "Here", cell: ({ ours }) => ours },
          { title: "Why", cell: ({ why }) => why },
        ]}
      />
    </details>
  );
}

interface PresetGroup {
  method: string;
  members: Preset[];
}

/** The environments whose presets are shown: the chosen one, or else those of the same kind. */
interface Near {
  env: string;
  isLike: (env: string) => boolean;
}

/**
 * Return the presets of all methods that match all words. Without words, return one method's presets for the chosen
 * environment, or else those for similar environments. Presets tuned for Arcadia come first.
 */
export function foundPresets(
  presets: readonly Preset[],
  text: string,
  algorithm: string | undefined,
  titleOf: (env: string) => string,
  near: Near,
): PresetGroup[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const own = presets.filter(({ config }) => config["algorithm"] === algorithm);
  const exact = own.filter(({ config }) => config["env"] === near.env);
  const matching = exact.length > 0 ? exact : own.filter(({ config }) => near.isLike(String(config["env"])));
  const searched = presets.filter((preset) => {
    const env = String(preset.config["env"]);
    const normalized = [preset.name, preset.title, preset.method, env, titleOf(env)].join(" ").toLowerCase();
    return words.every((word) => normalized.includes(word));
  });
  const groups = new Map<string, Preset[]>();
  const rank = (preset: Preset) =>
    Number(preset.config["env"] !== near.env) * 2 + Number(preset.origin !== "tuned");
  const found = words.length === 0 ? matching : searched;
  for (const preset of found.toSorted((a, b) => rank(a) - rank(b)))
    groups.set(preset.method, [...(groups.get(preset.method) ?? []), preset]);
  return [...groups].map(([method, members]) => ({ method, members }));
}
