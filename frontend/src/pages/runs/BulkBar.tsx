import { ActionIcon, Button, Group, List, Paper, ScrollArea, Stack, Text, Tooltip } from "@mantine/core";
import { IconX } from "@tabler/icons-react";
import { useEffect, useRef, useState } from "react";
import { Link } from "react-router";
import { archiveAddress } from "@/api/archives";
import { MAX_RUNS } from "@/api/comparisons";
import { useBulkAction } from "@/api/runActions";
import { writeRunNumbers } from "@/api/runNumbers";
import type { BulkAction, BulkResult, ListedRun } from "@/api/types";
import { ConfirmModal } from "@/ui/ConfirmModal";
import { exact, plural } from "@/ui/format";
import { notifyDone, notifyUndoable } from "@/ui/notify";
import { splitByEligibility } from "@/run-actions/eligibility";
import { MoveModal } from "@/run-actions/MoveModal";
import { PurgeModal } from "@/run-actions/PurgeModal";
import { sendWithRetries } from "@/run-actions/retriedActions";
import { ACTION_NAMES, ACTION_PARTICIPLES, ACTION_RESULTS } from "@/run-actions/words";
import { ExportModal } from "./ExportModal";
import classes from "./runs.module.css";
import { SkippedList } from "./SkippedList";
import { TagModal } from "./TagModal";

interface BulkBarProps {
  runs: readonly ListedRun[];
  archived: boolean;
  /** Number of runs that match the filters. */
  total: number;
  /** The list of the matching runs in groups, to compare more runs than one comparison can show. */
  groupsAddress: string;
  /** True while all matching runs are being fetched. Actions wait, so that none affects only a part of them. */
  selectingAll?: boolean;
  onSelectAll: () => void;
  onClear: () => void;
}

/** Toolbar for the selected runs. Each button says how many runs it affects. */
export function BulkBar(props: BulkBarProps) {
  const { runs, archived, total, selectingAll = false, onSelectAll, onClear } = props;
  // Keeps the runs that the dialog names, even if the list changes while it is open.
  const [confirmation, setConfirmation] = useState<{ action: BulkAction; runs: readonly ListedRun[] } | null>(
    null,
  );
  // The runs to move to another project.
  const [moved, setMoved] = useState<readonly ListedRun[] | null>(null);
  const [tagged, setTagged] = useState<readonly ListedRun[] | null>(null);
  const [skippedByServer, setSkippedByServer] = useState<BulkResult["skipped"]>([]);
  const bulk = useBulkAction();
  const bar = useNoticeOffset();
  const actions: BulkAction[] = archived ? ["restore", "purge"] : ["stop", "pause", "resume", "archive"];

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

  return (
    <Paper ref={bar} className={classes.bulk} shadow="md" withBorder role="region" aria-label="Selected runs">
      <Group gap="xs">
        <Text size="sm" fw={500} role="status">
          {selectingAll ? `Selecting all ${exact(total)}…` : `${plural(runs.length, "run")} selected`}
        </Text>
        {total > runs.length && (
          <Button variant="subtle" size="xs" loading={selectingAll} onClick={onSelectAll}>
            Select all {exact(total)} matches
          </Button>
        )}
        {actions.map((action) => (
          <BulkButton
            key={action}
            action={action}
            runs={runs}
            waiting={selectingAll}
            onClick={() => choose(action)}
          />
        ))}
        <Button size="xs" variant="default" disabled={selectingAll} onClick={() => setTagged(runs)}>
          Tag {exact(runs.length)}
        </Button>
        <Button size="xs" variant="default" disabled={selectingAll} onClick={() => setMoved(runs)}>
          Move {exact(runs.length)}
        </Button>
        {!selectingAll && <CompareButton runs={runs} groupsAddress={props.groupsAddress} />}
        {!selectingAll && <ExportButton runs={runs} />}
        <Tooltip label="Clear selection">
          <ActionIcon aria-label="Clear selection" onClick={onClear}>
            <IconX size={16} />
          </ActionIcon>
        </Tooltip>
      </Group>
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
          runs={tagged}
          archived={archived}
          onClose={() => setTagged(null)}
          onSkipped={setSkippedByServer}
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
    </Paper>
  );
}

/** Return the project that all runs are in, or null if they are in several. */
function sharedProject(runs: readonly ListedRun[]): string | null {
  const [first = null, ...others] = new Set(runs.map(({ project }) => project));
  return others.length === 0 ? first : null;
}

/** Return the ref of a bar at the bottom of the window. Notices are shown above it. */
function useNoticeOffset() {
  const bar = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = bar.current;
    if (!element) return;
    const { style } = document.documentElement;
    const measure = () => style.setProperty("--arcadia-bar-height", `${element.offsetHeight + 16}px`);
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    return () => {
      observer.disconnect();
      style.removeProperty("--arcadia-bar-height");
    };
  }, []);
  return bar;
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

function CompareButton({ runs, groupsAddress }: { runs: readonly ListedRun[]; groupsAddress: string }) {
  if (runs.length > MAX_RUNS) {
    return (
      <Tooltip
        multiline
        w={260}
        label={`A comparison shows at most ${exact(MAX_RUNS)} runs. This groups all matching runs by method and environment.`}
      >
        <Button size="xs" variant="default" component={Link} to={groupsAddress}>
          Compare groups
        </Button>
      </Tooltip>
    );
  }
  return (
    <Button
      size="xs"
      variant="default"
      component={Link}
      to={`/compare?runs=${writeRunNumbers(runs.map(({ id }) => id))}`}
    >
      Compare {runs.length}
    </Button>
  );
}

/** Runs that are exported without a dialog about the size of the archive. */
const FEW_RUNS = 100;

function ExportButton({ runs }: { runs: readonly ListedRun[] }) {
  // Keeps the runs of the dialog, even if the list changes while it is open.
  const [exported, setExported] = useState<readonly number[] | null>(null);
  const ids = runs.map(({ id }) => id);
  if (exported || ids.length > FEW_RUNS) {
    return (
      <>
        <Button size="xs" variant="default" onClick={() => setExported(ids)}>
          Export {exact(ids.length)}
        </Button>
        {exported && <ExportModal ids={exported} onClose={() => setExported(null)} />}
      </>
    );
  }
  return (
    <Button
      size="xs"
      variant="default"
      component="a"
      href={archiveAddress({ runs: ids })}
      download
      title="Save these runs with all their data as one archive file"
    >
      Export {ids.length}
    </Button>
  );
}

function BulkButton({
  action,
  runs,
  waiting,
  onClick,
}: {
  action: BulkAction;
  runs: readonly ListedRun[];
  waiting: boolean;
  onClick: () => void;
}) {
  const { eligible } = splitByEligibility(runs, action);
  return (
    <Button
      size="xs"
      variant="default"
      c={action === "purge" && eligible.length > 0 ? "var(--mantine-color-error)" : undefined}
      disabled={waiting || eligible.length === 0}
      onClick={onClick}
    >
      {ACTION_NAMES[action]} {exact(eligible.length)}
    </Button>
  );
}

interface AskModalProps {
  action: BulkAction | null;
  runs: readonly ListedRun[];
  onConfirm: (action: BulkAction) => void;
  onClose: () => void;
}

const CONSEQUENCES: Partial<Record<BulkAction, string>> = {
  stop: "Each run saves a checkpoint first. You cannot resume a stopped run, but you can fork it from any checkpoint.",
};

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
