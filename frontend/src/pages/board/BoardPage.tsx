import { Anchor, Button, Group, Skeleton, Stack, Text, Title } from "@mantine/core";
import { IconLayoutDashboard, IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useParams } from "react-router";
import { boardQuery, useSaveBoard } from "@/api/boards";
import { isSameProject, projectsQuery } from "@/api/projects";
import { facetsQuery } from "@/api/runs";
import type { Board, BoardPanel } from "@/api/types";
import { useFigureKinds } from "@/charts/figureKind";
import { projectAddress } from "@/ui/currentProject";
import { EmptyState } from "@/ui/EmptyState";
import { NoProject } from "@/ui/NoProject";
import { QueryError } from "@/ui/QueryError";
import { usePageTitle } from "@/ui/usePageTitle";
import classes from "./board.module.css";
import { PanelCard } from "./PanelCard";
import { PanelEditor } from "./PanelEditor";
import {
  firstFilter,
  MAX_PANELS,
  movePanel,
  newKey,
  newPanel,
  replacePanel,
  suggestedPanels,
} from "./panels";

/** The board of a project: charts that its members arrange. */
export default function BoardPage() {
  const { name = "" } = useParams();
  usePageTitle(`Board of ${name}`);
  const projects = useQuery(projectsQuery);
  const found = projects.data?.find((each) => isSameProject(each.name, name));
  const board = useQuery({ ...boardQuery(found?.id ?? 0), enabled: found !== undefined });
  const failed = projects.data ? board : projects;
  if (projects.data && !found) return <NoProject name={name} />;
  return (
    <Stack className={classes.page} gap="md">
      <Anchor component={Link} to={projectAddress(found?.name ?? name)} size="sm" w="fit-content">
        Project {found?.name ?? name}
      </Anchor>
      {board.data ? (
        <Panels key={board.data.project_id} board={board.data} />
      ) : (
        <>
          <Title order={1}>Board</Title>
          {failed.error ? (
            <QueryError error={failed.error} retry={() => void failed.refetch()} />
          ) : (
            <Skeleton height={320} radius="sm" role="status" aria-label="Loading the board…" />
          )}
        </>
      )}
    </Stack>
  );
}

function Panels({ board }: { board: Board }) {
  const { panels } = board;
  const [editing, setEditing] = useState(false);
  const [edited, setEdited] = useState<BoardPanel | null>(null);
  const [dragged, setDragged] = useState<string | null>(null);
  const save = useSaveBoard(board.project_id);
  const kinds = useFigureKinds();
  const facets = useQuery(facetsQuery(false, board.project));
  const environments = (facets.data?.env ?? [])
    .toSorted((a, b) => b.runs - a.runs)
    .map(({ value }) => value)
    .filter(Boolean);
  const add = () =>
    setEdited(newPanel("curves?smoothing=0.6&group=seed", { filter: firstFilter(environments) }));

  function put(panel: BoardPanel) {
    const isNew = panels.every(({ key }) => key !== panel.key);
    save.mutate(isNew ? [...panels, panel] : replacePanel(panels, panel.key, [panel]));
    setEdited(null);
  }

  return (
    <>
      <Group justify="space-between" align="center">
        <Title order={1}>Board</Title>
        {board.may_edit && (
          <Group gap="xs">
            {panels.length > 0 && (
              <Button variant="default" h={32} px="sm" onClick={() => setEditing(!editing)}>
                {editing ? "Done" : "Edit board"}
              </Button>
            )}
            <Button
              leftSection={<IconPlus size={16} aria-hidden />}
              h={32}
              px="sm"
              disabled={panels.length >= MAX_PANELS}
              title={panels.length >= MAX_PANELS ? `A board has at most ${MAX_PANELS} charts` : undefined}
              onClick={add}
            >
              Add chart
            </Button>
          </Group>
        )}
      </Group>
      {panels.length === 0 && (
        <EmptyState icon={IconLayoutDashboard} title="This board has no charts yet">
          <Stack gap="md" align="center">
            <Text>
              A board shows the charts that matter for {board.project} on one page, and follows its runs while
              they train.{board.may_edit && " Press “Add chart”, or begin with charts of the newest runs."}
            </Text>
            {board.may_edit && (
              <Button
                variant="default"
                loading={save.isPending || facets.isPending}
                onClick={() => save.mutate(suggestedPanels(environments, kinds))}
              >
                Begin with suggested charts
              </Button>
            )}
          </Stack>
        </EmptyState>
      )}
      {panels.length > 1 && (
        <Text size="xs" c="dimmed" visibleFrom="sm">
          Drag across a chart to zoom all charts with the same x axis. Double-click to zoom out.
        </Text>
      )}
      <div className={classes.grid}>
        {panels.map((panel, place) => (
          <PanelCard
            key={panel.key}
            board={board}
            panel={panel}
            editing={editing}
            isFirst={place === 0}
            isLast={place === panels.length - 1}
            onEdit={() => setEdited(panel)}
            onReplace={(others) => save.mutate(replacePanel(panels, panel.key, others))}
            onCopy={() => save.mutate(replacePanel(panels, panel.key, [panel, { ...panel, key: newKey() }]))}
            onMove={(by) => save.mutate(movePanel(panels, panel.key, place + by))}
            onDrag={setDragged}
            onDrop={() => dragged && dragged !== panel.key && save.mutate(movePanel(panels, dragged, place))}
          />
        ))}
      </div>
      {edited && (
        <PanelEditor project={board.project} panel={edited} onSave={put} onClose={() => setEdited(null)} />
      )}
    </>
  );
}
