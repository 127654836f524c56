import { Button, Group, Modal, Select, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { useNavigate } from "react-router";
import { useImportAgent } from "@/api/agents";
import { environmentsQuery } from "@/api/configuration";
import { environmentChoices } from "@/config-form/environmentChoices";
import { notifyDone } from "@/ui/notify";

interface ImportAgentModalProps {
  file: File;
  project: string | null;
  onClose: () => void;
}

/** Dialog that imports an agent file as a run. */
export function ImportAgentModal({ file, project, onClose }: ImportAgentModalProps) {
  const [env, setEnv] = useState<string | null>(null);
  const { data: environments = [] } = useQuery(environmentsQuery);
  const importAgent = useImportAgent();
  const navigate = useNavigate();
  const choices = environmentChoices(
    environments.map(({ id }) => id),
    environments,
    "",
  );

  function submit(event: FormEvent) {
    event.preventDefault();
    importAgent.mutate(
      { file, env, project },
      {
        onSuccess({ run_id, already }) {
          notifyDone(already ? `This agent is already run ${run_id}.` : `Imported ${file.name}.`);
          onClose();
          void navigate(`/runs/${run_id}`);
        },
      },
    );
  }

  return (
    <Modal opened onClose={onClose} title="Import agent" closeButtonProps={{ "aria-label": "Close" }}>
      <form onSubmit={submit}>
        <Stack gap="md">
          <Text size="sm" style={{ overflowWrap: "anywhere" }}>
            {file.name} becomes a run with one checkpoint.
          </Text>
          <Select
            label="Environment"
            description="Only for models of Stable-Baselines3, because their files do not name it."
            placeholder="As in the file"
            data={choices}
            value={env}
            onChange={setEnv}
            searchable
            clearable
            clearButtonProps={{ "aria-label": "Clear environment" }}
          />
          {importAgent.isError && (
            <Text size="sm" c="var(--mantine-color-error)" role="alert">
              {importAgent.error.message}
            </Text>
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={importAgent.isPending}>
              Import agent
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
