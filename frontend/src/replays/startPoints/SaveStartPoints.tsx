import { Modal } from "@mantine/core";
import { IconFlag } from "@tabler/icons-react";
import { useState } from "react";
import { BlockableButton } from "@/ui/BlockableButton";
import type { Place } from "./draft";
import { SaveForm } from "./SaveForm";

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
