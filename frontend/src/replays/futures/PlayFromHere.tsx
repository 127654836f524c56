import { IconDeviceGamepad2 } from "@tabler/icons-react";
import { BlockableButton } from "@/ui/BlockableButton";
import { useNavigate } from "react-router";
import { MOMENT, written } from "../moment";

interface PlayFromHereProps {
  replay: number;
  /** Reason why playing is unavailable. */
  blocked: string | null;
  /** Return the decision and the time of the shown picture. */
  now: () => { decision: number; seconds: number };
}

/** Button that opens a game in which a person continues the replay. */
export function PlayFromHere({ replay, blocked, now }: PlayFromHereProps) {
  const navigate = useNavigate();
  const open = () => {
    const { decision, seconds } = now();
    void navigate(`/replays/${replay}/play?decision=${decision}&${MOMENT}=${written(seconds)}`);
  };
  return (
    <BlockableButton
      blocked={blocked}
      tooltip="Take over from the agent at this moment"
      size="compact-sm"
      variant="default"
      leftSection={<IconDeviceGamepad2 size={14} aria-hidden />}
      onClick={open}
    >
      Play from here
    </BlockableButton>
  );
}
