import { Anchor, Button, Group, Stack, Text, Title } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconStethoscope } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { diagnosisQuery } from "@/api/diagnosis";
import type { Finding, Run } from "@/api/types";
import { writeZoom } from "@/charts/curveView";
import { short } from "@/ui/format";
import warningClasses from "@/ui/Warning.module.css";
import { useHiddenMarks } from "../marks/useHiddenMarks";
import classes from "../run.module.css";
import { describeSetting } from "./describeSetting";
import { TestFixModal } from "./TestFixModal";

/** Findings about a run, with settings that may help. Empty without findings. */
export function DiagnosisCard({ run }: { run: Run }) {
  const { data = [] } = useQuery(diagnosisQuery(run.id));
  const [hidden] = useHiddenMarks();
  const findings = data.filter(({ rule }) => !hidden.includes(rule));
  if (findings.length === 0) return null;
  return (
    <section className={`${classes.card} ${warningClasses.warning}`} aria-label="Diagnosis">
      <Group gap="xs" wrap="nowrap" mb="xs">
        <IconStethoscope size={18} aria-hidden style={{ flex: "none" }} />
        <Title order={2}>Diagnosis</Title>
      </Group>
      <Stack gap="md">
        {findings.map((finding) => (
          <FindingView key={finding.rule} run={run} finding={finding} />
        ))}
      </Stack>
    </section>
  );
}

function FindingView({ run, finding }: { run: Run; finding: Finding }) {
  const [isOpen, dialog] = useDisclosure(false);
  return (
    <article aria-label={finding.title}>
      <Title order={3} size="sm">
        {finding.title}
      </Title>
      <Text size="sm">{finding.cause}</Text>
      <Text size="sm" c="dimmed">
        {finding.detail} <Evidence run={run} finding={finding} />
      </Text>
      {finding.settings.length > 0 && (
        <Text size="sm" mt={4}>
          Try: {finding.settings.map(describeSetting).join(", ")}
        </Text>
      )}
      {finding.tests.map((test) => (
        <Text key={test.study_id} size="sm" mt={4}>
          <Anchor component={Link} to={`/studies/${test.study_id}`} size="sm">
            {`Test in study ${test.study_id}`}
          </Anchor>
          {test.verdict ? `: ${test.verdict}` : ` is ${test.state}.`}
        </Text>
      ))}
      {finding.test && run.actions.edit === null && (
        <Button size="xs" variant="default" mt="xs" onClick={dialog.open}>
          Test this fix
        </Button>
      )}
      {isOpen && finding.test && (
        <TestFixModal run={run} finding={finding} specification={finding.test} onClose={dialog.close} />
      )}
    </article>
  );
}

/** Link to the curve, zoomed to the steps that show the finding. */
function Evidence({ run, finding }: { run: Run; finding: Finding }) {
  const { metric, title, first_step, last_step } = finding.evidence;
  const zoom = writeZoom(new URLSearchParams(), [first_step, Math.max(last_step, first_step + 1)]);
  return (
    <Anchor
      component={Link}
      size="sm"
      to={{ pathname: `/runs/${run.id}/curves`, search: zoom.toString(), hash: metric }}
    >
      {`Show “${title}” from ${short(first_step)} to ${short(last_step, "steps")}`}
    </Anchor>
  );
}
