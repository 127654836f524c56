import { Chip, Group, Radio, Stack, Text } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import type { ConfigValue, Environment } from "@/api/types";
import { FormSearch } from "@/config-form/FormSearch";
import type { FormField } from "@/config-form/schema";
import { inputId } from "@/config-form/useConfigDraft";
import { VariedInput } from "@/config-form/VariedInput";
import { VaryButton } from "@/config-form/VaryButton";
import { Thumbnail } from "@/ui/Thumbnail";
import { familyOf, foundEnvironments } from "./environmentSearch";
import { FamilyIcon } from "./FamilyIcon";
import classes from "./launch.module.css";

interface EnvironmentPickerProps {
  environments: readonly Environment[];
  /** The environment field with its typed text. */
  field: FormField | undefined;
  typed: string | boolean | undefined;
  chosen: ConfigValue | undefined;
  isVaried: boolean;
  error: string | undefined;
  method: string;
  onChoose: (id: string) => void;
  onVary: (typed: string) => void;
}

/** Picker for an environment by family or search, or for several environments, which make a study. */
export function EnvironmentPicker(props: EnvironmentPickerProps) {
  const { environments, field, typed, chosen, isVaried, error, method, onChoose, onVary } = props;
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
          {...{ field: { ...field, help: "" }, typed, error, environments, method }}
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
