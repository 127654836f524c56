import { List, ScrollArea, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { actionCountsQuery, type ActionCounts, useStartBulkAction } from "@/api/bulkActions";
import { MAX_RUNS } from "@/api/comparisons";
import { type FailuresQuery, facetsQuery } from "@/api/runs";
import type { BulkAction, BulkRequest, ListedRun } from "@/api/types";
import { MoveModal } from "@/run-actions/MoveModal";
import { PurgeModal } from "@/run-actions/PurgeModal";
import { ACTION_NAMES } from "@/run-actions/words";
import { ConfirmModal } from "@/ui/ConfirmModal";
import { exact, plural } from "@/ui/format";
import { QueryError } from "@/ui/QueryError";
import { useSeenActions } from "./BulkProgress";
import { BulkToolbar, type ToolbarItem } from "./BulkToolbar";
import { MatchesExport } from "./ExportModal";
import { TagModal } from "./TagModal";

/** Actions on listed runs, or on archived ones. */
export const actionsOf = (archived: boolean): BulkAction[] =>
  archived ? ["restore", "purge"] : ["stop", "pause", "resume", "archive"];

export const CONSEQUENCES: Partial<Record<BulkAction, string>> = {
  stop: "Each run saves a checkpoint first. You cannot resume a stopped run, but you can fork it from any checkpoint.",
};

/** Return the link to the matching runs in groups. */
export const compareGroups = (address: string): ToolbarItem => ({
  label: "Compare groups",
  to: address,
  title: `A comparison shows at most ${exact(MAX_RUNS)} runs. This groups all matching runs by method and environment.`,
});

interface MatchesBarProps {
  matches: FailuresQuery;
  /** Matching runs that are left out. */
  excluded: readonly ListedRun[];
  /** Number of the matching runs without those. */
  count: number;
  archived: boolean;
  groupsAddress: string;
  onClear: () => void;
}

/** What a dialog is about. It keeps the numbers that it shows, even if the list changes while it is open. */
interface Asked {
  what: BulkAction | "tag" | "move" | "export";
  counts: ActionCounts;
  count: number;
}

/** Toolbar for all runs that match the filters. The server acts on them, so the page need not load them. */
export function MatchesBar({ matches, excluded, count, archived, groupsAddress, onClear }: MatchesBarProps) {
  const { data: counts, error, refetch } = useQuery(actionCountsQuery(matches));
  const facets = useQuery(facetsQuery(archived));
  const [asked, setAsked] = useState<Asked | null>(null);
  const bulk = useStartBulkAction();
  const [, setSeen] = useSeenActions();
  const ask = (what: Asked["what"]) => () => counts && setAsked({ what, counts, count });
  const close = () => setAsked(null);

  async function start(
    action: BulkRequest["action"] | "move",
    values: { tags?: string[]; project?: string } = {},
  ) {
    const up_to = asked?.counts.newest ?? null;
    const { id } = await bulk.mutateAsync({
      action,
      query: matches,
      exclude: excluded.map(({ id }) => id),
      up_to,
      ...values,
    });
    // It may end before the page sees it in progress.
    setSeen((seen) => [...seen, id]);
    close();
    onClear();
  }

  const editable = countOf("edit", counts, excluded).allowed;
  const items: ToolbarItem[] = [
    ...actionsOf(archived).map((action) => {
      const { allowed } = countOf(action, counts, excluded);
      return {
        label: `${ACTION_NAMES[action]} ${exact(allowed)}`,
        disabled: allowed === 0,
        danger: action === "purge",
        isMain: action === "archive" || action === "restore",
        onClick: ask(action),
      };
    }),
    { label: `Tag ${exact(editable)}`, disabled: editable === 0, onClick: ask("tag") },
    { label: `Move ${exact(editable)}`, disabled: editable === 0, onClick: ask("move") },
    compareGroups(groupsAddress),
    { label: `Export ${exact(count)}`, disabled: !counts, onClick: ask("export") },
  ];
  const subject = plural(asked?.count ?? count, "run");
  const what = asked?.what;
  return (
    <BulkToolbar
      status={
        excluded.length > 0 ? `${plural(count, "run")} selected` : `All ${plural(count, "run")} selected`
      }
      items={items}
      onClear={onClear}
    >
      {error && <QueryError error={error} retry={() => void refetch()} />}
      {asked && what === "export" && (
        <MatchesExport matches={matches} count={asked.count} excluded={excluded} onClose={close} />
      )}
      {asked && what === "tag" && (
        <TagModal
          count={asked.count}
          used={facets.data?.tag.map(({ value }) => value) ?? []}
          archived={archived}
          onClose={close}
          onApply={(action, tags) => start(action, { tags })}
        />
      )}
      <MoveModal
        opened={what === "move"}
        subject={subject}
        from={null}
        onMove={(project) => start("move", { project })}
        onClose={close}
      />
      {asked && what && what !== "export" && what !== "tag" && what !== "move" && (
        <ConfirmAction
          action={what}
          asked={asked}
          excluded={excluded}
          busy={bulk.isPending}
          onConfirm={() => void start(what).catch(() => undefined)}
          onClose={close}
        />
      )}
    </BulkToolbar>
  );
}

/** Return how many of the matching runs allow an action without the excluded ones, and why the others do not. */
function countOf(
  action: BulkAction | "edit",
  counts: ActionCounts | undefined,
  excluded: readonly ListedRun[],
) {
  const { allowed = 0, refused = [] } = counts?.actions[action] ?? {};
  const left = (reason: string | null, runs: number) =>
    Math.max(0, runs - excluded.filter((run) => run.actions[action] === reason).length);
  return {
    allowed: left(null, allowed),
    refused: refused
      .map(({ reason, runs }) => ({ reason, runs: left(reason, runs) }))
      .filter(({ runs }) => runs > 0),
  };
}

interface ConfirmActionProps {
  action: BulkAction;
  asked: Asked;
  excluded: readonly ListedRun[];
  busy: boolean;
  onConfirm: () => void;
  onClose: () => void;
}

function ConfirmAction({ action, asked, excluded, busy, onConfirm, onClose }: ConfirmActionProps) {
  const { allowed, refused } = countOf(action, asked.counts, excluded);
  const what = `${ACTION_NAMES[action]} ${plural(allowed, "run")}`;
  const details = (
    <Stack gap="xs">
      {CONSEQUENCES[action] && <Text size="sm">{CONSEQUENCES[action]}</Text>}
      {refused.length > 0 && (
        <div>
          <Text size="sm" fw={500}>
            Other runs will be skipped:
          </Text>
          <ScrollArea.Autosize mah={200}>
            <List size="sm">
              {refused.map(({ reason, runs }) => (
                <List.Item key={reason}>
                  {plural(runs, "run")}: {reason}
                </List.Item>
              ))}
            </List>
          </ScrollArea.Autosize>
        </div>
      )}
    </Stack>
  );
  if (action === "purge")
    return (
      <PurgeModal opened runs={[]} count={allowed} busy={busy} onConfirm={onConfirm} onClose={onClose}>
        {details}
      </PurgeModal>
    );
  return (
    <ConfirmModal
      opened
      title={`${what}?`}
      action={what}
      danger={action === "stop"}
      busy={busy}
      onConfirm={onConfirm}
      onClose={onClose}
    >
      {details}
    </ConfirmModal>
  );
}
