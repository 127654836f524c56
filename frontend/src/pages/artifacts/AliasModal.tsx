import { Autocomplete, Button, Group, Modal, Stack } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { type ArtifactVersion, useSetArtifactAlias } from "@/api/artifacts";
import { FormErrors } from "@/ui/FormErrors";
import { notifyDone } from "@/ui/notify";

interface AliasModalProps {
  version: ArtifactVersion;
  /** Aliases of all versions. */
  aliases: readonly string[];
  onClose: () => void;
}

/** Dialog that gives an alias to a version. */
export function AliasModal({ version, aliases, onClose }: AliasModalProps) {
  const [typed, setTyped] = useState("");
  const alias = typed.trim();
  const set = useSetArtifactAlias(version);
  function submit(event: FormEvent) {
    event.preventDefault();
    set.mutate(alias, {
      onSuccess() {
        notifyDone(`${version.name}:${alias} is now v${version.version}.`);
        onClose();
      },
    });
  }
  return (
    <Modal
      opened
      onClose={onClose}
      title={`Alias of v${version.version}`}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      <form onSubmit={submit} noValidate>
        <Stack gap="md">
          <Autocomplete
            label="Alias"
            description="A name such as best. If another version has it, it moves here."
            data-autofocus
            openOnFocus={false}
            maxLength={100}
            data={[...aliases]}
            value={typed}
            onChange={setTyped}
          />
          <FormErrors messages={set.error ? [set.error.message] : []} />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={set.isPending} disabled={alias === ""}>
              Set alias
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
