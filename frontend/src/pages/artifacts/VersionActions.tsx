import { ActionIcon, Button, Group, Menu, Text } from "@mantine/core";
import { IconCopy, IconDots, IconDownload, IconTag, IconTagOff, IconTrash } from "@tabler/icons-react";
import { useState } from "react";
import {
  artifactZipAddress,
  type ArtifactVersion,
  useDeleteArtifactVersion,
  useRemoveArtifactAlias,
} from "@/api/artifacts";
import { ConfirmModal } from "@/ui/ConfirmModal";
import { bytes } from "@/ui/format";
import { MenuAction } from "@/ui/MenuAction";
import { notifyDone } from "@/ui/notify";
import { useCopy } from "@/ui/useCopy";
import { AliasModal } from "./AliasModal";

interface VersionActionsProps {
  version: ArtifactVersion;
  aliases: readonly string[];
  /** Called when the version is deleted. */
  onDeleted: () => void;
}

/** Button that downloads a version, and a menu with its other actions. */
export function VersionActions({ version, aliases, onDeleted }: VersionActionsProps) {
  const [dialog, setDialog] = useState<"alias" | "delete" | null>(null);
  const { copy } = useCopy();
  const removeAlias = useRemoveArtifactAlias(version.artifact_id);
  const remove = useDeleteArtifactVersion(version);
  const title = `${version.name}:v${version.version}`;
  const close = () => setDialog(null);
  return (
    <Group gap="xs" wrap="nowrap">
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
          <MenuAction Icon={IconTag} label="Set alias…" onClick={() => setDialog("alias")} />
          {version.aliases
            .filter((alias) => alias !== "latest")
            .map((alias) => (
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
          <MenuAction Icon={IconTrash} label="Delete version…" onClick={() => setDialog("delete")} />
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
      </ConfirmModal>
    </Group>
  );
}
