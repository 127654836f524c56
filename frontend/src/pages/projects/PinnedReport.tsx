import { Anchor, Button, Group, Select, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { useEditProject } from "@/api/projects";
import { reportsQuery } from "@/api/reports";
import type { Project } from "@/api/types";
import { inProject } from "@/ui/currentProject";
import classes from "./projects.module.css";

/** The report that the project shows first, and the field to choose it. */
export function PinnedReport({ project }: { project: Project }) {
  const reports = useQuery(reportsQuery(project.name)).data ?? [];
  const edit = useEditProject(project.id);
  const pinned = project.pinned_report;
  const offered = reports.map(({ id, title }) => ({ value: String(id), label: title }));
  if (pinned && !offered.some(({ value }) => value === String(pinned.id)))
    offered.unshift({ value: String(pinned.id), label: pinned.title });
  return (
    <section className={classes.card} aria-label="Pinned report">
      <Stack gap="xs">
        <Title order={2}>Pinned report</Title>
        {pinned && (
          <Anchor component={Link} to={`/reports/${pinned.id}`} fw={500} w="fit-content">
            {pinned.title}
          </Anchor>
        )}
        {!project.may_administer ? (
          !pinned && (
            <Text size="sm" c="dimmed">
              No report is pinned.
            </Text>
          )
        ) : offered.length === 0 ? (
          <Text size="sm" c="dimmed">
            This project has no report yet. Create one on the page of{" "}
            <Anchor component={Link} to={inProject("/reports", project.name)} inherit>
              reports
            </Anchor>
            , then pin it here.
          </Text>
        ) : (
          <Group gap="xs" align="end">
            <Select
              aria-label="Report"
              placeholder="Choose a report"
              searchable
              allowDeselect={false}
              w={280}
              maw="100%"
              data={offered}
              value={pinned ? String(pinned.id) : null}
              error={edit.error?.message}
              nothingFoundMessage="No such report"
              onChange={(id) => id !== null && edit.mutate({ pinned_report_id: Number(id) })}
            />
            {pinned && (
              <Button
                variant="default"
                h={36}
                px="sm"
                loading={edit.isPending}
                onClick={() => edit.mutate({ pinned_report_id: null })}
              >
                Unpin
              </Button>
            )}
          </Group>
        )}
      </Stack>
    </section>
  );
}
