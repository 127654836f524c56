import { Alert, Anchor, Button, Group, Modal, Stack, Text, Title } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconStethoscope } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useNavigate } from "react-router";
import { diagnosisKeys, diagnosisQuery } from "@/api/diagnosis";
import { studyPreviewQuery, useStartStudy } from "@/api/studies";
import type { ConfigValue, Finding, Run, StudySpecification } from "@/api/types";
import { writeZoom } from "@/charts/curveView";
import { shown } from "@/config-form/draft";
import { ConfirmCost } from "@/ui/ConfirmCost";
import { plural, short } from "@/ui/format";
import { studyCostText } from "@/ui/studyCost";
import { useHiddenMarks } from "../marks/useHiddenMarks";
import warningClasses from "@/ui/Warning.module.css";
import classes from "../run.module.css";

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

interface TestFixModalProps {
  run: Run;
  finding: Finding;
  specification: StudySpecification;
  onClose: () => void;
}

/** Dialog that starts a study of the current against the suggested settings. It shows the cost first. */
function TestFixModal({ run, finding, specification, onClose }: TestFixModalProps) {
  const { data: cost, error } = useQuery(studyPreviewQuery(specification));
  const [confirmed, setConfirmed] = useState(false);
  const start = useStartStudy();
  const client = useQueryClient();
  const navigate = useNavigate();
  const refusal = error?.message ?? start.error?.message ?? cost?.refused;

  function submit() {
    const confirm_steps = cost?.confirm ? cost.steps : null;
    start.mutate(
      { ...specification, confirm_steps, project: run.project },
      {
        onSuccess(study) {
          void client.invalidateQueries({ queryKey: diagnosisKeys.list(run.id) });
          onClose();
          void navigate(`/studies/${study.id}`);
        },
      },
    );
  }

  return (
    <Modal opened onClose={onClose} title="Test this fix" closeButtonProps={{ "aria-label": "Close" }}>
      <Stack gap="sm">
        <Text size="sm">
          A study compares the current settings with {finding.settings.map(describeSetting).join(", ")}. Both
          train from scratch with the same seeds. Other runs start first.
        </Text>
        <Text size="sm" role="status" mih="1.55em">
          {cost ? studyCostText(cost) : !error && "Estimating the cost…"}
        </Text>
        {refusal && (
          <Alert variant="light" color="red" p="xs" role="alert">
            <Text size="sm">{refusal}</Text>
          </Alert>
        )}
        {cost && !cost.refused && <ConfirmCost cost={cost} confirmed={confirmed} onChange={setConfirmed} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button
            disabled={!cost || Boolean(cost.refused) || (Boolean(cost.confirm) && !confirmed)}
            loading={start.isPending}
            onClick={submit}
          >
            {cost ? `Start ${plural(cost.runs, "run")}` : "Start runs"}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

/** Return a suggested setting, such as: Learning rate 10 → 0.003. */
function describeSetting({ title, current, suggested }: Finding["settings"][number]): string {
  // No-break spaces keep both values on one line.
  return `${title} ${shown(current as ConfigValue)}\u00a0→\u00a0${shown(suggested as ConfigValue)}`;
}
