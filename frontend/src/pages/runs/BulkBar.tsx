import { Button, Group, List, ScrollArea, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { archiveAddress } from "@/api/archives";
import { MAX_RUNS } from "@/api/comparisons";
import { type BulkResult, useBulkAction } from "@/api/runActions";
import { writeRunNumbers } from "@/api/runNumbers";
import type { FailuresQuery } from "@/api/runs";
import type { BulkAction, ListedRun } from "@/api/types";
import { type SkippedRun, splitByEligibility } from "@/run-actions/eligibility";
import { MoveModal } from "@/run-actions/MoveModal";
import { PurgeModal } from "@/run-actions/PurgeModal";
import { sendWithRetries } from "@/run-actions/retriedActions";
import { ACTION_NAMES, ACTION_PARTICIPLES, ACTION_RESULTS } from "@/run-actions/words";
import { ConfirmModal } from "@/ui/ConfirmModal";
import { exact, plural } from "@/ui/format";
import { notifyDone, notifyUndoable } from "@/ui/notify";
import { BulkToolbar, type ToolbarItem } from "./BulkToolbar";
import { ExportModal } from "./ExportModal";
import { actionsOf, compareGroups, CONSEQUENCES, MatchesBar } from "./MatchesBar";
import { TagModal } from "./TagModal";
import type { RunTableModel } from "./useRunTable";

interface BulkBarProps {
  selection: Pick<RunTableModel, "selected" | "excluded" | "count" | "selectAll" | "clear">;
  archived: boolean;
  /** The filters that the listed runs match. */
  matches: FailuresQuery;
  /** Number of runs that match the filters. */
  total: number;
  /** The list of the matching runs in groups, to compare more runs than one comparison can show. */
  groupsAddress: string;
}

/** Toolbar for the selected runs, or for all that match the filters. */
export function BulkBar({ selection, matches, ...others }: BulkBarProps) {
  const { excluded, count, clear } = selection;
  if (excluded)
    return <MatchesBar {...others} matches={matches} excluded={excluded} count={count} onClear={clear} />;
  return <RunsBar {...others} runs={selection.selected} onSelectAll={selection.selectAll} onClear={clear} />;
}

interface RunsBarProps extends Omit<BulkBarProps, "selection" | "matches"> {
  runs: readonly ListedRun[];
  onSelectAll: () => void;
  onClear: () => void;
}

/** Toolbar for the selected runs. Each button says how many runs it affects. */
export function RunsBar({ runs, archived, total, groupsAddress, onSelectAll, onClear }: RunsBarProps) {
  // Keeps the runs that the dialog names, even if the list changes while it is open.
  const [confirmation, setConfirmation] = useState<{ action: BulkAction; runs: readonly ListedRun[] } | null>(
    null,
  );
  // The runs to move to another project.
  const [moved, setMoved] = useState<readonly ListedRun[] | null>(null);
  const [tagged, setTagged] = useState<readonly ListedRun[] | null>(null);
  const [skippedByServer, setSkippedByServer] = useState<BulkResult["skipped"]>([]);
  // Keeps the runs of the dialog, even if the list changes while it is open.
  const [exported, setExported] = useState<readonly number[] | null>(null);
  const bulk = useBulkAction();

  function perform(action: BulkAction, chosen: readonly ListedRun[]) {
    const ids = splitByEligibility(chosen, action).eligible.map(({ id }) => id);
    setConfirmation(null);
    send(action, ids, ({ done, skipped }) => {
      notifyResult(action, done);
      setSkippedByServer(skipped);
    });
  }

  function send(action: BulkAction, ids: number[], onDone?: (result: BulkResult) => void) {
    const result: BulkResult = { done: [], skipped: [] };
    sendWithRetries({
      key: `${action} ${ids.join()}`,
      request: { target: "runs", ids, action },
      failure: `${describeRuns(ids)} NOT ${ACTION_PARTICIPLES[action]}`,
      send: () => bulk.mutateAsync({ action, ids, result }).then(onDone),
    });
  }

  function notifyResult(action: BulkAction, done: number[]) {
    const [first, ...others] = done;
    const subject = first !== undefined && others.length === 0 ? `Run ${first}` : plural(done.length, "run");
    const message = `${subject} ${ACTION_RESULTS[action]}.`;
    if (action === "archive" && first !== undefined)
      notifyUndoable(`archive ${done.join()}`, message, () => send("restore", done));
    else notifyDone(message);
  }

  function choose(action: BulkAction) {
    const hasSkipped = splitByEligibility(runs, action).skipped.length > 0;
    if (hasSkipped || action === "stop" || action === "purge") setConfirmation({ action, runs });
    else perform(action, runs);
  }

  async function tag(
    chosen: readonly ListedRun[],
    action: "tag" | "untag",
    tags: string[],
    onProgress: (handled: number) => void,
  ) {
    const ids = chosen.map(({ id }) => id);
    const { done, skipped } = await bulk.mutateAsync({ action, ids, tags, onProgress });
    notifyDone(`${plural(done.length, "run")} ${action === "tag" ? "tagged" : "changed"}.`);
    setSkippedByServer(skipped);
    setTagged(null);
  }

  const ids = runs.map(({ id }) => id);
  const editable = runs.filter(({ actions }) => actions.edit === null);
  const items: ToolbarItem[] = [
    ...actionsOf(archived).map((action) => {
      const { eligible } = splitByEligibility(runs, action);
      return {
        label: `${ACTION_NAMES[action]} ${exact(eligible.length)}`,
        disabled: eligible.length === 0,
        danger: action === "purge",
        isMain: action === "archive" || action === "restore",
        onClick: () => choose(action),
      };
    }),
    {
      label: `Tag ${exact(editable.length)}`,
      disabled: editable.length === 0,
      onClick: () => setTagged(editable),
    },
    {
      label: `Move ${exact(editable.length)}`,
      disabled: editable.length === 0,
      onClick: () => setMoved(editable),
    },
    runs.length > MAX_RUNS
      ? compareGroups(groupsAddress)
      : { label: `Compare ${runs.length}`, to: `/compare?runs=${writeRunNumbers(ids)}` },
    ids.length > FEW_RUNS
      ? { label: `Export ${exact(ids.length)}`, onClick: () => setExported(ids) }
      : {
          label: `Export ${ids.length}`,
          href: archiveAddress({ runs: ids }),
          title: "Save these runs with all their data as one archive file",
        },
  ];
  return (
    <BulkToolbar
      status={`${plural(runs.length, "run")} selected`}
      more={
        total > runs.length
          ? { label: `Select all ${exact(total)} matches`, onClick: onSelectAll }
          : undefined
      }
      items={items}
      onClear={onClear}
    >
      <ConfirmActionModal
        action={confirmation?.action ?? null}
        runs={confirmation?.runs ?? []}
        onConfirm={(action) => perform(action, confirmation?.runs ?? [])}
        onClose={() => setConfirmation(null)}
      />
      <MoveModal
        opened={moved !== null}
        items={{ runs: moved?.map(({ id }) => id) ?? [] }}
        subject={plural(moved?.length ?? 0, "run")}
        from={sharedProject(moved ?? [])}
        onClose={() => setMoved(null)}
        onMoved={onClear}
      />
      {tagged && (
        <TagModal
          count={tagged.length}
          used={[...new Set(tagged.flatMap((run) => run.tags))].sort()}
          archived={archived}
          onClose={() => setTagged(null)}
          onApply={(action, tags, onProgress) => tag(tagged, action, tags, onProgress)}
        />
      )}
      {skippedByServer.length > 0 && (
        <Stack gap={4} mt="xs">
          <Group gap="xs">
            <Text size="xs" fw={500}>
              The server skipped {plural(skippedByServer.length, "run")}:
            </Text>
            <Button size="compact-xs" variant="subtle" onClick={() => setSkippedByServer([])}>
              Hide
            </Button>
          </Group>
          <ScrollArea.Autosize mah={160}>
            <List size="xs">
              {skippedByServer.map(({ id, reason }) => (
                <List.Item key={id}>{reason}</List.Item>
              ))}
            </List>
          </ScrollArea.Autosize>
        </Stack>
      )}
      {exported && <ExportModal ids={exported} onClose={() => setExported(null)} />}
    </BulkToolbar>
  );
}

/** Runs that are exported without a dialog about the size of the archive. */
const FEW_RUNS = 100;

/** Return the project that all runs are in, or null if they are in several. */
function sharedProject(runs: readonly ListedRun[]): string | null {
  const [first = null, ...others] = new Set(runs.map(({ project }) => project));
  return others.length === 0 ? first : null;
}

/** Further runs are only counted. */
const MAX_NAMED_RUNS = 5;

/** Return the subject and verb of a failure: "Run 7 was" or "3 runs (#7, #8, #9) were". */
function describeRuns(ids: readonly number[]): string {
  if (ids.length === 1) return `Run ${ids[0]} was`;
  const named = ids.slice(0, MAX_NAMED_RUNS).map((id) => `#${id}`);
  const more = ids.length > MAX_NAMED_RUNS ? ` and ${ids.length - MAX_NAMED_RUNS} more` : "";
  return `${plural(ids.length, "run")} (${named.join(", ")}${more}) were`;
}

interface AskModalProps {
  action: BulkAction | null;
  runs: readonly ListedRun[];
  onConfirm: (action: BulkAction) => void;
  onClose: () => void;
}

function ConfirmActionModal({ action, runs, onConfirm, onClose }: AskModalProps) {
  if (!action) return null;
  const { eligible, skipped } = splitByEligibility(runs, action);
  if (action === "purge") {
    return (
      <PurgeModal opened runs={eligible} busy={false} onConfirm={() => onConfirm(action)} onClose={onClose}>
        <SkippedList skipped={skipped} />
      </PurgeModal>
    );
  }
  const what = `${ACTION_NAMES[action]} ${plural(eligible.length, "run")}`;
  return (
    <ConfirmModal
      opened
      title={`${what}?`}
      action={what}
      danger={action === "stop"}
      onConfirm={() => onConfirm(action)}
      onClose={onClose}
    >
      <Stack gap="xs">
        {CONSEQUENCES[action] && <Text size="sm">{CONSEQUENCES[action]}</Text>}
        <SkippedList skipped={skipped} />
      </Stack>
    </ConfirmModal>
  );
}

/** List of the runs that an action skips, with reasons. */
function SkippedList({ skipped }: { skipped: readonly SkippedRun[] }) {
  if (skipped.length === 0) return null;
  return (
    <div>
      <Text size="sm" fw={500}>
        {plural(skipped.length, "run")} will be skipped:
      </Text>
      <ScrollArea.Autosize mah={200}>
        <List size="sm">
          {skipped.map(({ run, reason }) => (
            <List.Item key={run.id}>
              {run.name} #{run.id}: {reason}
            </List.Item>
          ))}
        </List>
      </ScrollArea.Autosize>
    </div>
  );
}
