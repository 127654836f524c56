import { Button, Group, Input, Modal, SegmentedControl, Stack, Text, TextInput } from "@mantine/core";
import { IconFlag } from "@tabler/icons-react";
import { useState } from "react";
import { useSaveStartPoints } from "@/api/startSets";
import type { SavedStartPoints } from "@/api/types";
import { useRequestForm } from "@/config-form/useRequestForm";
import { BlockableButton } from "@/ui/BlockableButton";
import { exact, plural } from "@/ui/format";
import { FormErrors } from "@/ui/FormErrors";
import { notifyDone } from "@/ui/notify";
import { Reason } from "@/ui/Reason";
import { useIsMounted } from "@/ui/useIsMounted";
import { countPoints, createDraft, type Draft, FIELDS, findProblems, type Place, toRequest } from "./draft";

interface SaveStartPointsProps {
  /** Reason why nothing can be saved. */
  blocked: string | null;
  /** Pause the replay and return the shown decision. */
  pause: () => Place;
}

/** Button that saves decisions of a replay as a start set, with its dialog. */
export function SaveStartPoints({ blocked, pause }: SaveStartPointsProps) {
  const [place, setPlace] = useState<Place | null>(null);
  const close = () => setPlace(null);
  return (
    <>
      <BlockableButton
        blocked={blocked}
        tooltip="Let evaluations begin at this moment"
        size="compact-sm"
        variant="default"
        leftSection={<IconFlag size={14} aria-hidden />}
        onClick={() => setPlace(pause())}
      >
        Save as start points…
      </BlockableButton>
      <Modal
        opened={place !== null}
        onClose={close}
        title="Save as start points"
        closeButtonProps={{ "aria-label": "Close" }}
      >
        {place && <SaveForm place={place} onClose={close} />}
      </Modal>
    </>
  );
}

/** Form that saves decisions of a replay as a start set. If it is closed, a worker continues. */
function SaveForm({ place, onClose }: { place: Place; onClose: () => void }) {
  const save = useSaveStartPoints(place.replay);
  const [saved, setSaved] = useState<SavedStartPoints | null>(null);
  const isMounted = useIsMounted();
  const { draft, problems, refusals, update, submit } = useRequestForm({
    createDraft: () => createDraft(place),
    fields: FIELDS,
    findProblems: (sent: Draft) => findProblems(sent, place),
    async send(valid) {
      setSaved(null);
      const ended = await save.mutateAsync({ body: toRequest(valid, place), onChange: setSaved });
      setSaved(ended);
      if (ended.state !== "done") return;
      notifyDone(`Saved ${plural(ended.total, "start point")} as ${ended.name}.`);
      if (isMounted()) onClose();
    },
  });
  const several = draft.points === "several";
  const sound = Object.keys(findProblems(draft, place)).length === 0;
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        <Text size="sm" c="dimmed">
          A worker repeats the episode. Evaluations with the protocol agent-starts can then begin here.
        </Text>
        <TextInput
          data-autofocus
          label="Name"
          maxLength={100}
          value={draft.name}
          error={problems.name}
          onChange={(event) => update({ name: event.currentTarget.value })}
        />
        <Input.Wrapper label="Start points" labelElement="div">
          <SegmentedControl
            size="xs"
            fullWidth
            aria-label="Start points"
            data={[
              { value: "one", label: `Decision ${exact(place.decision + 1)}` },
              { value: "several", label: "Whole episode" },
            ]}
            value={draft.points}
            onChange={(points) => update({ points })}
          />
        </Input.Wrapper>
        {several && (
          <TextInput
            label="Decisions between points"
            description={
              sound
                ? `${plural(countPoints(draft, place), "point")} before and after decision ${exact(place.decision + 1)}, which is one of them`
                : undefined
            }
            inputMode="numeric"
            value={draft.every}
            error={problems.every}
            onChange={(event) => update({ every: event.currentTarget.value })}
          />
        )}
        <FormErrors messages={refusals} />
        {saved && saved.state !== "done" && (
          <div role="status">
            {saved.state === "failed" && <Text size="sm">The start points could not be saved.</Text>}
            <Reason of={saved} />
          </div>
        )}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {save.isPending ? "Close" : "Cancel"}
          </Button>
          <Button type="submit" loading={save.isPending}>
            Save
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
