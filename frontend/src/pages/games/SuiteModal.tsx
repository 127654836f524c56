import { Alert, Button, Group, Modal, MultiSelect, NumberInput, Select, Stack, Text } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useNavigate } from "react-router";
import { environmentsQuery, presetsQuery } from "@/api/configuration";
import { studyPreviewQuery, useStartStudy } from "@/api/studies";
import { gameListsQuery, suiteSpecificationQuery } from "@/api/suites";
import type { Environment, GameList, Preset, StudyPreview, SuiteRequest } from "@/api/types";
import { ConfirmCost } from "@/ui/ConfirmCost";
import { useCurrentProject } from "@/ui/currentProject";
import { plural } from "@/ui/format";
import { QueryError } from "@/ui/QueryError";
import { studyCostText } from "@/ui/studyCost";

/** Value of the custom selection in the menu of lists. */
const CUSTOM = "custom";
const DEFAULT_PRESET = "paac-sticky";
const DEFAULT_STEPS = 10_000_000;

/** Dialog that runs a list of games as a study. It shows the cost first. */
export function SuiteModal({ onClose }: { onClose: () => void }) {
  const lists = useQuery(gameListsQuery);
  const presets = useQuery(presetsQuery);
  const environments = useQuery(environmentsQuery);
  const failed = [lists, presets, environments].find((query) => query.isError && query.data === undefined);
  return (
    <Modal
      opened
      onClose={onClose}
      size="lg"
      title="Run a suite of games"
      closeButtonProps={{ "aria-label": "Close" }}
    >
      {failed && <QueryError error={failed.error} retry={() => void failed.refetch()} />}
      {!failed && !(lists.data && presets.data && environments.data) && <Text c="dimmed">Loading form…</Text>}
      {lists.data && presets.data && environments.data && (
        <SuiteForm
          lists={lists.data}
          presets={presets.data.filter(({ config }) => String(config.env).startsWith("ALE/"))}
          games={environments.data.filter(({ family }) => family.has_game_pages)}
          onClose={onClose}
        />
      )}
    </Modal>
  );
}

interface SuiteFormProps {
  lists: readonly GameList[];
  presets: readonly Preset[];
  games: readonly Environment[];
  onClose: () => void;
}

function SuiteForm({ lists, presets, games, onClose }: SuiteFormProps) {
  const [name, setName] = useState(lists[0]?.name ?? CUSTOM);
  const [custom, setCustom] = useState<string[]>([]);
  const list = lists.find((each) => each.name === name);
  const [preset, setPreset] = useState(list?.preset ?? DEFAULT_PRESET);
  const [steps, setSteps] = useState<number | string>(list?.total_steps ?? DEFAULT_STEPS);
  const [seeds, setSeeds] = useState<number | string>(1);

  function chooseList(chosen: string) {
    setName(chosen);
    const next = lists.find((each) => each.name === chosen);
    setPreset(next?.preset ?? DEFAULT_PRESET);
    setSteps(next?.total_steps ?? DEFAULT_STEPS);
  }

  const isComplete =
    (list !== undefined || custom.length > 0) && typeof steps === "number" && typeof seeds === "number";
  const request = isComplete ? { games: list ? list.name : custom, preset, total_steps: steps, seeds } : null;
  return (
    <Stack gap="sm">
      <Select
        label="Games"
        data={[
          ...lists.map((each) => ({ value: each.name, label: listLabel(each) })),
          { value: CUSTOM, label: "Custom selection" },
        ]}
        value={name}
        allowDeselect={false}
        onChange={(chosen) => chosen && chooseList(chosen)}
        description={list && `${list.sentence} ${list.source}.`}
        inputWrapperOrder={["label", "input", "description"]}
      />
      {!list && (
        <MultiSelect
          label="Custom selection"
          placeholder={custom.length === 0 ? "Choose games" : ""}
          data={games.map(({ id, title }) => ({ value: id, label: title }))}
          value={custom}
          onChange={setCustom}
          searchable
          clearable
          limit={120}
          clearButtonProps={{ "aria-label": "Clear the selection" }}
        />
      )}
      <Select
        label="Method and settings"
        data={presets.map(({ name: value, title }) => ({ value, label: `${title} (${value})` }))}
        value={preset}
        allowDeselect={false}
        searchable
        onChange={(chosen) => chosen && setPreset(chosen)}
        description={presets.find((each) => each.name === preset)?.shows}
        inputWrapperOrder={["label", "input", "description"]}
      />
      <Group grow align="start">
        <NumberInput
          label="Steps per run"
          min={1}
          max={10_000_000_000}
          step={1_000_000}
          allowDecimal={false}
          thousandSeparator=","
          value={steps}
          onChange={setSteps}
        />
        <NumberInput
          label="Seeds per game"
          description="Intervals need 3"
          inputWrapperOrder={["label", "input", "description"]}
          min={1}
          max={100}
          allowDecimal={false}
          value={seeds}
          onChange={setSeeds}
        />
      </Group>
      <Launch request={request} onClose={onClose} />
    </Stack>
  );
}

function listLabel({ title, games }: GameList): string {
  return `${title} (${plural(games.length, "game")})`;
}

interface LaunchProps {
  /** The suite, or null while the form is incomplete. */
  request: SuiteRequest | null;
  onClose: () => void;
}

/** Cost of the suite, and the button that starts it. */
function Launch({ request, onClose }: LaunchProps) {
  const [settled] = useDebouncedValue(request && JSON.stringify(request), 300, { leading: true });
  const specification = useQuery({
    ...suiteSpecificationQuery(JSON.parse(settled ?? "{}") as SuiteRequest),
    enabled: settled !== null && request !== null,
    placeholderData: keepPreviousData,
  });
  const planned = specification.isError ? undefined : specification.data;
  const preview = useQuery({
    ...studyPreviewQuery(planned ?? { name: "-" }),
    enabled: planned !== undefined,
    placeholderData: keepPreviousData,
  });
  const start = useStartStudy();
  const project = useCurrentProject();
  const navigate = useNavigate();
  const [confirmedSteps, setConfirmedSteps] = useState<number | null>(null);

  const error = specification.error ?? preview.error ?? start.error;
  const cost = request !== null && !error ? preview.data : undefined;
  const isCurrent = settled === JSON.stringify(request) && !specification.isFetching && !preview.isFetching;
  const confirmed = cost !== undefined && confirmedSteps === cost.steps;
  const ready = isCurrent && cost !== undefined && !cost.refused && (!cost.confirm || confirmed);

  function submit() {
    if (!planned || !cost) return;
    const confirm_steps = cost.confirm ? cost.steps : null;
    start.mutate(
      { ...planned, confirm_steps, ...(project && { project }) },
      {
        onSuccess(study) {
          onClose();
          void navigate(`/studies/${study.id}`);
        },
      },
    );
  }

  return (
    <>
      <CostText cost={cost} isPending={request !== null && !error && !isCurrent} />
      {error && (
        <Alert variant="light" color="red" p="xs" role="alert">
          <Text size="sm">{error.message}</Text>
        </Alert>
      )}
      {cost && !cost.refused && (
        <ConfirmCost
          cost={cost}
          confirmed={confirmed}
          onChange={(given) => setConfirmedSteps(given ? cost.steps : null)}
        />
      )}
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button disabled={!ready} loading={start.isPending} onClick={submit}>
          {cost ? `Start ${plural(cost.runs, "run")}` : "Start runs"}
        </Button>
      </Group>
    </>
  );
}

function CostText({ cost, isPending }: { cost: StudyPreview | undefined; isPending: boolean }) {
  return (
    <Text size="sm" role="status" mih="1.55em">
      {isPending && "Counting runs…"}
      {!isPending &&
        cost &&
        (cost.refused ? `Too large: ${cost.refused}.` : `${studyCostText(cost)}. Single runs start first.`)}
    </Text>
  );
}
