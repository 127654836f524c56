import { Anchor, Group, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { studyQuery } from "@/api/studies";
import { StopStudyButton } from "@/run-actions/StopStudyButton";
import { plural } from "@/ui/format";

/** The study that launched the compared runs: its link, its progress, and a button that stops it. */
export function StudyLine({ id }: { id: number }) {
  const { data: study } = useQuery(studyQuery(id));
  const total = study ? Object.values(study.runs).reduce((sum, count) => sum + count, 0) : 0;
  return (
    // The height with the button, so that the page does not jump when the study is loaded.
    <Group component="section" aria-label="Study" gap="xs" mih={30}>
      <Anchor component={Link} to={`/studies/${id}`} size="sm">
        {study?.name ?? `Study ${id}`}
      </Anchor>
      {study && (
        <>
          <Text size="sm" role="status">
            {study.runs.finished} of {plural(total, "run")} finished
            {study.runs.failed > 0 && `, ${study.runs.failed} failed`}
            {study.state !== "running" && study.state !== "finished" && `, ${study.state}`}
          </Text>
          <StopStudyButton study={study} />
        </>
      )}
    </Group>
  );
}
