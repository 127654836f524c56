import { ActionIcon, Menu, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconDots } from "@tabler/icons-react";
import { Link, useNavigate } from "react-router";
import { address } from "@/api/client";
import { type RunAction, useCloneRun, useRunAction } from "@/api/mutations";
import type { Run } from "@/api/types";
import { notifyDone } from "@/ui/notify";
import { refusal } from "@/ui/runActions";
import { PurgeModal } from "./PurgeModal";

/** What is done to a run more seldom; what its state forbids says why. */
export function RunMenu({ run }: { run: Run }) {
  const navigate = useNavigate();
  const clone = useCloneRun();
  const act = useRunAction();
  const [purging, purge] = useDisclosure(false);
  const shelf: RunAction = run.archived_at ? "restore" : "archive";

  const cloneNow = () =>
    clone.mutate(
      { id: run.id },
      {
        onSuccess: (copy) => {
          notifyDone(`Launched “${copy.name}” with the same configuration.`);
          void navigate(`/runs/${copy.id}`);
        },
      },
    );

  return (
    <>
      <Menu>
        <Menu.Target>
          <ActionIcon variant="default" size={30} aria-label="More about this run">
            <IconDots size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={cloneNow}>Launch the same again</Menu.Item>
          <Menu.Item component={Link} to={`/launch?like=${run.id}`}>
            Change and launch…
          </Menu.Item>
          <Menu.Item component={Link} to={`/compare?runs=${run.id}`}>
            Compare with others…
          </Menu.Item>
          <Menu.Divider />
          <Menu.Item component="a" href={address(`/export/runs/${run.id}.csv`)} download>
            Export every point (CSV)
          </Menu.Item>
          <Menu.Item component="a" href={address(`/export/runs/${run.id}.jsonl`)} download>
            Export every point (JSON Lines)
          </Menu.Item>
          <Menu.Divider />
          <RefusableItem
            label={run.archived_at ? "Restore to the list" : "Archive"}
            reason={refusal(run, shelf as "archive")}
            onClick={() => act.mutate({ id: run.id, action: shelf })}
          />
          <RefusableItem label="Purge…" danger reason={refusal(run, "purge")} onClick={purge.open} />
        </Menu.Dropdown>
      </Menu>
      <PurgeModal run={run} opened={purging} onClose={purge.close} />
    </>
  );
}

interface RefusableItemProps {
  label: string;
  reason: string | null;
  danger?: boolean;
  onClick: () => void;
}

function RefusableItem({ label, reason, danger, onClick }: RefusableItemProps) {
  return (
    <Menu.Item disabled={reason !== null} color={danger ? "red" : undefined} onClick={onClick}>
      {label}
      {reason && <Text size="xs">Not now: {reason}.</Text>}
    </Menu.Item>
  );
}
