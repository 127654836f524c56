import { ActionIcon, Button, Group, List, Paper, Stack, Text, Tooltip } from "@mantine/core";
import { IconX } from "@tabler/icons-react";
import { useEffect, useRef, useState } from "react";
import { Link } from "react-router";
import { MAX_RUNS } from "@/api/comparisons";
import { useBulkAction } from "@/api/runActions";
import type { BulkAction, BulkResult, Run } from "@/api/types";
import { ConfirmModal } from "@/ui/ConfirmModal";
import { plural } from "@/ui/format";
import { notifyDone, notifyUndoable } from "@/ui/notify";
import { sortOut } from "@/run-actions/eligible";
import { PurgeModal } from "@/run-actions/PurgeModal";
import { promise } from "@/run-actions/promisedActions";
import { ACTION_DONE, ACTION_NAMES, ACTION_PAST } from "@/run-actions/words";
import classes from "./runs.module.css";
import { SkippedList } from "./SkippedList";

interface BulkBarProps {
  runs: readonly Run[];
  archived: boolean;
  /** All runs that match, when more match than are selected. */
  total: number;
  /** Whether all matching runs are being fetched: no action may touch a part of them meanwhile. */
  selectingAll?: boolean;
  onSelectAll: () => void;
  onClear: () => void;
}

/** Acts on the selected runs at once; each button says how many it touches. */
export function BulkBar({ runs, archived, total, selectingAll = false, onSelectAll, onClear }: BulkBarProps) {
  // With the runs as they were when it was asked: what is confirmed is what was read, however the list moves on.
  const [asked, setAsked] = useState<{ action: BulkAction; runs: readonly Run[] } | null>(null);
  const [leftOut, setLeftOut] = useState<BulkResult["skipped"]>([]);
  const bulk = useBulkAction();
  const bar = useNoticesAbove();
  const actions: BulkAction[] = archived ? ["restore", "purge"] : ["stop", "pause", "resume", "archive"];

  function carryOut(action: BulkAction, meant: readonly Run[]) {
    const ids = sortOut(meant, action).touched.map(({ id }) => id);
    setAsked(null);
    send(action, ids, ({ done, skipped }) => {
      sayDone(action, done);
      setLeftOut(skipped);
    });
  }

  function send(action: BulkAction, ids: number[], onDone?: (result: BulkResult) => void) {
    const result: BulkResult = { done: [], skipped: [] };
    promise({
      key: `${action} ${ids.join()}`,
      request: { target: "runs", ids, action },
      failure: `${nameRuns(ids)} NOT ${ACTION_PAST[action]}`,
      send: () => bulk.mutateAsync({ action, ids, result }).then(onDone),
    });
  }

  function sayDone(action: BulkAction, done: number[]) {
    const [first, ...others] = done;
    const who = first !== undefined && others.length === 0 ? `Run ${first}` : plural(done.length, "run");
    const said = `${who} ${ACTION_DONE[action]}.`;
    if (action === "archive" && first !== undefined)
      notifyUndoable(`archive ${done.join()}`, said, () => send("restore", done));
    else notifyDone(said);
  }

  function choose(action: BulkAction) {
    const hasSkipped = sortOut(runs, action).skipped.length > 0;
    if (hasSkipped || action === "stop" || action === "purge") setAsked({ action, runs });
    else carryOut(action, runs);
  }

  return (
    <Paper ref={bar} className={classes.bulk} shadow="md" withBorder role="region" aria-label="Selected runs">
      <Group gap="xs">
        <Text size="sm" fw={500} role="status">
          {selectingAll ? `Selecting all ${total}…` : `${plural(runs.length, "run")} selected`}
        </Text>
        {total > runs.length && (
          <Button variant="subtle" size="xs" loading={selectingAll} onClick={onSelectAll}>
            Select all {total} that match
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
        {!selectingAll && <CompareButton runs={runs} />}
        <Tooltip label="Clear the selection">
          <ActionIcon aria-label="Clear the selection" onClick={onClear}>
            <IconX size={16} />
          </ActionIcon>
        </Tooltip>
      </Group>
      <AskModal
        action={asked?.action ?? null}
        runs={asked?.runs ?? []}
        onConfirm={(action) => carryOut(action, asked?.runs ?? [])}
        onClose={() => setAsked(null)}
      />
      {leftOut.length > 0 && (
        <Stack gap={4} mt="xs">
          <Text size="xs" fw={500}>
            The server skipped {plural(leftOut.length, "run")}:
          </Text>
          <List size="xs">
            {leftOut.map(({ id, reason }) => (
              <List.Item key={id}>{reason}</List.Item>
            ))}
          </List>
        </Stack>
      )}
    </Paper>
  );
}

/** Return the ref of a bar at the bottom of the window; notices are shown above it. */
function useNoticesAbove() {
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

const NAMED = 5;

/** Return the subject and verb of a failure, as "Run 7 was" or "3 runs (#7, #8, #9) were". */
function nameRuns(ids: readonly number[]): string {
  if (ids.length === 1) return `Run ${ids[0]} was`;
  const named = ids.slice(0, NAMED).map((id) => `#${id}`);
  const more = ids.length > NAMED ? ` and ${ids.length - NAMED} more` : "";
  return `${plural(ids.length, "run")} (${named.join(", ")}${more}) were`;
}

function CompareButton({ runs }: { runs: readonly Run[] }) {
  if (runs.length > MAX_RUNS) {
    return (
      <Tooltip label={`At most ${MAX_RUNS} runs can be compared at once`}>
        <Button size="xs" variant="default" data-disabled aria-disabled>
          Compare {runs.length}
        </Button>
      </Tooltip>
    );
  }
  return (
    <Button
      size="xs"
      variant="default"
      component={Link}
      to={`/compare?runs=${runs.map(({ id }) => id).join(",")}`}
    >
      Compare {runs.length}
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
  runs: readonly Run[];
  waiting: boolean;
  onClick: () => void;
}) {
  const { touched } = sortOut(runs, action);
  return (
    <Button
      size="xs"
      variant="default"
      c={action === "purge" && touched.length > 0 ? "var(--mantine-color-error)" : undefined}
      disabled={waiting || touched.length === 0}
      onClick={onClick}
    >
      {ACTION_NAMES[action]} {touched.length}
    </Button>
  );
}

interface AskModalProps {
  action: BulkAction | null;
  runs: readonly Run[];
  onConfirm: (action: BulkAction) => void;
  onClose: () => void;
}

const WHAT_HAPPENS: Partial<Record<BulkAction, string>> = {
  stop: "Each saves a checkpoint first. A stopped run cannot be resumed, but it can be forked from any of its checkpoints.",
};

function AskModal({ action, runs, onConfirm, onClose }: AskModalProps) {
  if (!action) return null;
  const { touched, skipped } = sortOut(runs, action);
  if (action === "purge") {
    return (
      <PurgeModal opened runs={touched} busy={false} onConfirm={() => onConfirm(action)} onClose={onClose}>
        <SkippedList skipped={skipped} />
      </PurgeModal>
    );
  }
  const what = `${ACTION_NAMES[action]} ${plural(touched.length, "run")}`;
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
        {WHAT_HAPPENS[action] && <Text size="sm">{WHAT_HAPPENS[action]}</Text>}
        <SkippedList skipped={skipped} />
      </Stack>
    </ConfirmModal>
  );
}
