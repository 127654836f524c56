import { Button, Tooltip } from "@mantine/core";
import { IconCheck, IconLink } from "@tabler/icons-react";
import { useEffect, useState } from "react";
import { notifyProblem } from "@/ui/notify";

const SAID_MS = 2000;

interface CopyMomentProps {
  /** The address of the moment; asked for when it is wanted. */
  address: () => string;
}

export function CopyMoment({ address }: CopyMomentProps) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const later = setTimeout(() => setCopied(false), SAID_MS);
    return () => clearTimeout(later);
  }, [copied]);

  async function copy() {
    const link = address();
    try {
      await navigator.clipboard.writeText(link);
      setCopied(true);
    } catch {
      // Browsers give the clipboard to https and to localhost alone.
      notifyProblem(new Error(`The browser lets this page copy nothing. The link is ${link}`));
    }
  }

  return (
    <Tooltip label="Opens these replays at this moment, paused">
      <Button
        size="xs"
        variant="default"
        leftSection={copied ? <IconCheck size={14} aria-hidden /> : <IconLink size={14} aria-hidden />}
        onClick={() => void copy()}
      >
        {copied ? "Link copied" : "Copy link to this moment"}
      </Button>
    </Tooltip>
  );
}
