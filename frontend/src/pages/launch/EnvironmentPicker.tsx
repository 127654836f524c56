import { Chip, Group, Radio, Stack, Text } from "@mantine/core";
import { IconCube, IconDeviceGamepad2 } from "@tabler/icons-react";
import { useEffect, useRef, useState } from "react";
import type { Environment, EnvironmentFamily } from "@/api/types";
import { FormSearch } from "@/config-form/FormSearch";
import { type ConfigDraft, inputId } from "@/config-form/useConfigDraft";
import { VariedInput } from "@/config-form/VariedInput";
import { VaryButton } from "@/config-form/VaryButton";
import { Thumbnail } from "@/ui/Thumbnail";
import classes from "./launch.module.css";

interface EnvironmentPickerProps {
  config: ConfigDraft;
  environments: readonly Environment[];
  onChoose: (id: string) => void;
}

/** Picker for an environment by family or search, or for several environments, which make a study. */
export function EnvironmentPicker({ config, environments, onChoose }: EnvironmentPickerProps) {
  const field = config.fields.find(({ name }) => name === "env");
  const chosen = config.values["env"];
  const error = config.errors["env"];
  const isVaried = config.series["env"] !== undefined;
  const onVary = (typed: string) => config.set("env", typed);
  const [text, setText] = useState("");
  const current = environments.find(({ id }) => id === chosen);
  const [family, setFamily] = useState<string | null>(null);
  const [varying, setVarying] = useState(isVaried);
  const shownFamily = family ?? (current ? familyOf(current) : null);
  const found = foundEnvironments(environments, text, shownFamily);
  const families = [...new Set(environments.map(familyOf))];
  const several = varying || isVaried;
  const list = useRef<HTMLDivElement>(null);

  // The chosen environment may be far down the list of its family.
  useEffect(() => {
    const tile = list.current?.querySelector<HTMLElement>("[aria-checked=true]");
    if (list.current && tile) showInside(list.current, tile);
  }, [current?.id, shownFamily]);

  function vary() {
    if (several && typeof chosen === "string") onVary(chosen);
    setVarying(!several);
  }

  return (
    <Stack gap={8} component="section" aria-label="Environment">
      <Group justify="space-between" gap="xs">
        <Group gap="xs">
          <Text component="h2" size="sm" fw={600}>
            Environment
          </Text>
          {field && <VaryButton title="Environment" varied={several} onClick={vary} />}
        </Group>
        {!several && (
          <FormSearch
            id={inputId("env")}
            label="Search environments"
            placeholder={`Search all ${environments.length}`}
            text={text}
            onType={setText}
            onEnter={() => {
              const [first] = found;
              if (first && text.trim() !== "") onChoose(first.id);
            }}
          />
        )}
      </Group>
      {several && field ? (
        <VariedInput
          id={inputId("env")}
          label="Environments to compare"
          field={{ ...field, help: "" }}
          typed={config.draft["env"]}
          error={error}
          environments={environments}
          method={config.variant?.title ?? ""}
          onType={onVary}
          onLeave={() => undefined}
        />
      ) : (
        <>
          {text.trim() === "" && (
            <Chip.Group value={shownFamily} onChange={(value) => setFamily(String(value))}>
              <Group gap={6} role="group" aria-label="Environment families">
                {families.map((name) => (
                  <Chip key={name} value={name} size="xs" variant="light">
                    {name}
                  </Chip>
                ))}
              </Group>
            </Chip.Group>
          )}
          <Radio.Group value={current?.id ?? null} onChange={onChoose} aria-label="Environment to train in">
            <div ref={list} className={classes.environments}>
              {found.map((environment) => (
                <EnvironmentTile key={environment.id} environment={environment} />
              ))}
            </div>
          </Radio.Group>
          {found.length === 0 && (
            <Text size="sm" c="dimmed">
              No environment matches “{text.trim()}”.
            </Text>
          )}
          {current && !found.includes(current) && (
            <Text size="xs" c="dimmed">
              Chosen: {current.title} ({familyOf(current)})
            </Text>
          )}
          {error && (
            <Text size="xs" c="var(--mantine-color-error)" role="alert">
              {error}
            </Text>
          )}
        </>
      )}
    </Stack>
  );
}

/** Scroll a list to a tile that is out of sight, without scrolling the page. */
function showInside(list: HTMLElement, tile: HTMLElement): void {
  const top = tile.offsetTop - list.offsetTop;
  const isVisible = top >= list.scrollTop && top + tile.offsetHeight <= list.scrollTop + list.clientHeight;
  if (!isVisible) list.scrollTop = top;
}

function EnvironmentTile({ environment }: { environment: Environment }) {
  const { id, title, family, picture_file_id } = environment;
  return (
    <Radio.Card value={id} className={classes.environment} title={id}>
      {picture_file_id === null ? (
        <FamilyIcon family={family} />
      ) : (
        <Thumbnail fileId={picture_file_id} size={32} alt="" />
      )}
      <Text size="sm" fw={500} component="span" className={classes.environmentTitle}>
        {title}
      </Text>
    </Radio.Card>
  );
}

const SIZE = 20;

/** Lines of the icons of families, in a square of 24. */
const DRAWINGS: Partial<Record<string, string>> = {
  // A ball above a paddle.
  "first-steps": "M4 4h16v16H4z M9 17h6 M12 8v.01",
  // A pole on a cart.
  "classic-control": "M5 13h10v4H5z M10 13l6-9 M3 20h18 M7.5 17v.01 M12.5 17v.01",
  // A lander over the ground.
  box2d: "M9 6h6l2 6H7z M8 12l-3 5 M16 12l3 5 M2 20c4-1 6 0 10 0s6-1 10 0",
  // A leg with joints.
  mujoco: "M11 3a2 2 0 1 0 .01 0z M11 7l3 5-5 4 1 5 M10 21h4",
  mazes: "M4 4h16v16H4z M4 9h6v6 M14 4v6h6 M10 20v-1 M15 20v-5h-1",
};

/** Picture of an environment that no run has played yet. */
function FamilyIcon({ family }: { family: Pick<EnvironmentFamily, "name"> }) {
  const drawing = DRAWINGS[family.name];
  return (
    <span className={classes.familyIcon} aria-hidden>
      {drawing ? (
        <svg
          width={SIZE}
          height={SIZE}
          viewBox="0 0 24 24"
          fill="none"
          stroke="currentColor"
          strokeWidth={1.5}
          strokeLinecap="round"
          strokeLinejoin="round"
        >
          <path d={drawing} />
        </svg>
      ) : family.name === "atari" ? (
        <IconDeviceGamepad2 size={SIZE} stroke={1.5} />
      ) : (
        <IconCube size={SIZE} stroke={1.5} />
      )}
    </span>
  );
}

/** Return the title of an environment's family. */
const familyOf = ({ family }: Pick<Environment, "family">): string => family.title;

/**
 * Return the environments that match all words, titles that start with them first. Without words, return one
 * family.
 */
function foundEnvironments(
  environments: readonly Environment[],
  text: string,
  family: string | null,
): Environment[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return environments.filter((each) => family === null || familyOf(each) === family);
  const begins = ({ title }: Environment) => title.toLowerCase().startsWith(words[0] ?? "");
  return environments
    .filter((each) => {
      const normalized = [each.id, each.title, each.group].join(" ").toLowerCase();
      return words.every((word) => normalized.includes(word));
    })
    .toSorted((a, b) => Number(begins(b)) - Number(begins(a)));
}
