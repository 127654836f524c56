import { Button, Group, NumberInput, Popover, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { Link, useNavigate } from "react-router";
import { archiveAddress } from "@/api/archives";
import { useDeleteStudy, useExtendStudy } from "@/api/studies";
import type { Study, StudyPoint } from "@/api/types";
import { MoveModal } from "@/run-actions/MoveModal";
import { StopStudyButton } from "@/run-actions/StopStudyButton";
import { useSteerStudy } from "@/run-actions/useSteerStudy";
import { ConfirmModal } from "@/ui/ConfirmModal";
import { plural } from "@/ui/format";
import { alsoMade } from "./points";

/** Buttons for the actions that a study allows now. */
export function StudyActions({ study }: { study: Study }) {
  const [openedDialog, setOpenedDialog] = useState<"delete" | "move" | null>(null);
  const { actions } = study;
  const { send, sending } = useSteerStudy(study.id);

  return (
    <Group gap="xs">
      {actions.pause === null && (
        <Button size="xs" variant="default" loading={sending === "pause"} onClick={() => send("pause")}>
          Pause study
        </Button>
      )}
      {actions.resume === null && (
        <Button size="xs" loading={sending === "resume"} onClick={() => send("resume")}>
          Resume study
        </Button>
      )}
      <StopStudyButton study={study} />
      {study.may_edit && (
        <>
          <MoreSeeds study={study} />
          <Button size="xs" variant="default" component={Link} to={`/launch?study=${study.id}`}>
            Clone
          </Button>
          <Button size="xs" variant="default" onClick={() => setOpenedDialog("move")}>
            Move to project…
          </Button>
        </>
      )}
      <Button
        size="xs"
        variant="default"
        component="a"
        href={archiveAddress({ studies: [study.id] })}
        download
        title="Save the study and its runs as one archive file"
      >
        Export archive
      </Button>
      {actions.delete === null && (
        <Button size="xs" variant="default" onClick={() => setOpenedDialog("delete")}>
          Delete
        </Button>
      )}
      <MoveModal
        opened={openedDialog === "move"}
        items={{ studies: [study.id] }}
        subject="the study and its runs"
        from={study.project}
        onClose={() => setOpenedDialog(null)}
      />
      <DeleteModal study={study} opened={openedDialog === "delete"} onClose={() => setOpenedDialog(null)} />
    </Group>
  );
}

function DeleteModal({ study, opened, onClose }: { study: Study; opened: boolean; onClose: () => void }) {
  const remove = useDeleteStudy(study.id);
  const navigate = useNavigate();
  return (
    <ConfirmModal
      opened={opened}
      title="Delete the study?"
      action="Delete study"
      danger
      onClose={onClose}
      onConfirm={() => remove.mutate(undefined, { onSuccess: () => void navigate("/studies") })}
      busy={remove.isPending}
    >
      This permanently deletes its question, points and plan. Its runs are kept.
    </ConfirmModal>
  );
}

/** Return false if another point is decided to rank higher, so that the point gets no more seeds. */
function isOpen(decision: StudyPoint["decision"]): boolean {
  return decision === null || decision.beaten_by === null;
}

function MoreSeeds({ study }: { study: Study }) {
  const extend = useExtendStudy(study.id);
  const [opened, setOpened] = useState(false);
  const [seeds, setSeeds] = useState<number | string>(3);
  const [wanted, setWanted] = useState<number | string>(2);
  const scored = study.table.filter(({ mean, decision }) => mean !== null && isOpen(decision)).length;
  const best = typeof wanted === "number" ? Math.min(wanted, scored) : wanted;
  const ready = typeof seeds === "number" && typeof best === "number";
  const start = () => {
    if (ready) extend.mutate({ seeds, best }, { onSuccess: () => setOpened(false) });
  };
  return (
    <Popover opened={opened} onChange={setOpened} trapFocus withArrow>
      <Popover.Target>
        <Button size="xs" variant="default" disabled={study.best === null} onClick={() => setOpened(!opened)}>
          Add seeds to best
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap="xs">
          <NumberInput
            size="xs"
            label="New seeds per point"
            min={1}
            max={1000}
            allowDecimal={false}
            value={seeds}
            onChange={setSeeds}
          />
          <NumberInput
            size="xs"
            label="Number of best points"
            description={`${plural(scored, "point")} with a finished run${study.verdict === null ? "" : ", not ranked below another"}`}
            min={1}
            max={scored}
            allowDecimal={false}
            value={best}
            onChange={setWanted}
          />
          <Text size="xs" c="dimmed">
            {ready && `${plural(seeds * best, "more run")}. `}
            {alsoMade(study)}
          </Text>
          <Button size="xs" disabled={!ready} loading={extend.isPending} onClick={start}>
            Extend study
          </Button>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
