import { Anchor, Autocomplete, Button, Group, Modal, Stack, Text, Textarea } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Link } from "react-router";
import { aliasesQuery, useSetAlias } from "@/api/aliases";
import type { Checkpoint, Run } from "@/api/types";
import { placeErrors } from "@/config-form/serverErrors";
import { FormErrors } from "@/ui/FormErrors";
import { short } from "@/ui/format";
import { notifyDone } from "@/ui/notify";

interface AliasModalProps {
  run: Run;
  checkpoint: Checkpoint;
  onClose: () => void;
}

/** Dialog that sets an alias of a checkpoint. */
export function AliasModal({ run, checkpoint, onClose }: AliasModalProps) {
  const [typed, setTyped] = useState("");
  const name = typed.trim().toLowerCase();
  const [why, setWhy] = useState("");
  const { data: aliases = [] } = useQuery(aliasesQuery);
  const set = useSetAlias(run.id);
  const before = aliases.find((alias) => alias.name === name);
  const { byField, general } = set.error ? placeErrors(set.error, ["name"]) : { byField: {}, general: [] };

  function submit(event: FormEvent) {
    event.preventDefault();
    set.mutate(
      { name, checkpoint_id: checkpoint.id, why },
      {
        onSuccess() {
          notifyDone(`${name} now names the checkpoint at ${short(checkpoint.step, "steps")}.`);
          onClose();
        },
      },
    );
  }

  return (
    <Modal
      opened
      onClose={onClose}
      title={`Alias of the checkpoint at ${short(checkpoint.step, "steps")}`}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      <form onSubmit={submit} noValidate>
        <Stack gap="md">
          <Autocomplete
            label="Alias"
            description="A name such as pong/champion. A checkpoint with an alias is never pruned."
            data-autofocus
            openOnFocus={false}
            maxLength={100}
            data={aliases.map((alias) => alias.name)}
            value={typed}
            error={byField.name}
            onChange={setTyped}
          />
          {before && (
            <Text size="sm">
              It now names a checkpoint of{" "}
              <Anchor component={Link} to={`/runs/${before.run_id}`} inherit>
                run {before.run_id}
              </Anchor>{" "}
              and moves here.
            </Text>
          )}
          <Textarea
            label="Reason"
            description="For the history of the alias."
            maxLength={2000}
            value={why}
            onChange={(event) => setWhy(event.currentTarget.value)}
          />
          <FormErrors messages={general} />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={set.isPending} disabled={name === ""}>
              Set alias
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
