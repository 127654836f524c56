import { Alert, Button, Group, Modal, Stack, Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useNavigate } from "react-router";
import { diagnosisKeys } from "@/api/diagnosis";
import { studyPreviewQuery, useStartStudy } from "@/api/studies";
import type { Finding, Run, StudySpecification } from "@/api/types";
import { ConfirmCost } from "@/ui/ConfirmCost";
import { plural } from "@/ui/format";
import { studyCostText } from "@/ui/studyCost";
import { describeSetting } from "./describeSetting";

interface TestFixModalProps {
  run: Run;
  finding: Finding;
  specification: StudySpecification;
  onClose: () => void;
}

/** Dialog that starts a study of the current against the suggested settings. It shows the cost first. */
export function TestFixModal({ run, finding, specification, onClose }: TestFixModalProps) {
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
