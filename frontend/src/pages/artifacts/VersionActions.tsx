import { ActionIcon, Autocomplete, Button, Group, Menu, Modal, Stack, Text } from "@mantine/core";
import { IconCopy, IconDots, IconDownload, IconTag, IconTagOff, IconTrash } from "@tabler/icons-react";
import { type FormEvent, useState } from "react";
import {
  type ArtifactVersion,
  type ArtifactVersionDetails,
  artifactZipAddress,
  useDeleteArtifactVersion,
  useRemoveArtifactAlias,
  useSetArtifactAlias,
} from "@/api/artifacts";
import { BlockableButton } from "@/ui/BlockableButton";
import { ConfirmModal } from "@/ui/ConfirmModal";
import { bytes } from "@/ui/format";
import { FormErrors } from "@/ui/FormErrors";
import { MenuAction } from "@/ui/MenuAction";
import { notifyDone } from "@/ui/notify";
import { useCopy } from "@/ui/useCopy";

const MAX_LISTED = 5;

interface VersionActionsProps {
  version: ArtifactVersion;
  /** The version with its files and runs, once they are loaded. */
  details: ArtifactVersionDetails | undefined;
  aliases: readonly string[];
  /** Called when the version is deleted. */
  onDeleted: () => void;
}

/** Button that downloads a version, and a menu with its other actions. */
export function VersionActions({ version, details, aliases, onDeleted }: VersionActionsProps) {
  const [dialog, setDialog] = useState<"alias" | "delete" | null>(null);
  const { copy } = useCopy();
  const removeAlias = useRemoveArtifactAlias(version.artifact_id);
  const remove = useDeleteArtifactVersion(version);
  const title = `${version.name}:v${version.version}`;
  const close = () => setDialog(null);
  const users = details?.used_by ?? [];
  const named = version.aliases.filter((alias) => alias !== "latest");
  return (
    <Group gap="xs" wrap="nowrap">
      {details?.entries.every(({ uri }) => uri !== null) ? (
        <BlockableButton
          blocked="This version has only references. Arcadia does not have their contents."
          leftSection={<IconDownload size={16} />}
          h={32}
          px="sm"
          variant="default"
        >
          Download
        </BlockableButton>
      ) : (
        <Button
          component="a"
          href={artifactZipAddress(version)}
          download
          leftSection={<IconDownload size={16} />}
          h={32}
          px="sm"
          variant="default"
        >
          Download
        </Button>
      )}
      <Menu width={256} keepMounted={false} position="bottom-end">
        <Menu.Target>
          <ActionIcon size={32} aria-label={`Actions for ${title}`}>
            <IconDots size={18} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <MenuAction
            Icon={IconCopy}
            label="Copy Python"
            onClick={() => {
              copy(`run.use_artifact("${version.project}/${title}").path`);
              notifyDone("Copied.");
            }}
          />
          {version.may_edit && (
            <MenuAction Icon={IconTag} label="Set alias…" onClick={() => setDialog("alias")} />
          )}
          {(version.may_edit ? named : []).map((alias) => (
            <MenuAction
              key={alias}
              Icon={IconTagOff}
              label={`Remove alias ${alias}`}
              onClick={() =>
                removeAlias.mutate(alias, {
                  onSuccess: () => notifyDone(`The alias ${alias} was removed.`),
                })
              }
            />
          ))}
          {version.may_edit && (
            <MenuAction Icon={IconTrash} label="Delete version…" onClick={() => setDialog("delete")} />
          )}
        </Menu.Dropdown>
      </Menu>
      {dialog === "alias" && <AliasModal version={version} aliases={aliases} onClose={close} />}
      <ConfirmModal
        opened={dialog === "delete"}
        title={`Delete ${title}?`}
        action={`Delete v${version.version}`}
        danger
        busy={remove.isPending}
        onClose={close}
        onConfirm={() =>
          remove.mutate(undefined, {
            onSuccess() {
              notifyDone(`${title} was deleted.`);
              onDeleted();
            },
          })
        }
      >
        <Text size="sm">
          This permanently deletes the version ({bytes(version.bytes)}). Files that other versions have stay.
        </Text>
        {users.length > 0 && (
          <Text size="sm" mt="xs">
            Used by {listed(users.map((run) => `${run.name} (run ${run.id})`))}.
          </Text>
        )}
        {named.length > 0 && (
          <Text size="sm" mt="xs">
            {named.length === 1 ? "Its alias" : "Its aliases"} {listed(named)} will be removed.
          </Text>
        )}
      </ConfirmModal>
    </Group>
  );
}

/** Return the first names of a list, and how many more there are. */
function listed(names: readonly string[]): string {
  const more = names.length > MAX_LISTED ? ` and ${names.length - MAX_LISTED} more` : "";
  return names.slice(0, MAX_LISTED).join(", ") + more;
}

interface AliasModalProps {
  version: ArtifactVersion;
  /** Aliases of all versions. */
  aliases: readonly string[];
  onClose: () => void;
}

/** Dialog that gives an alias to a version. */
function AliasModal({ version, aliases, onClose }: AliasModalProps) {
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
