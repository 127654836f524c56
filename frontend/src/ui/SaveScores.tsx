import { Button } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { address } from "@/api/client";

/** Saves the table of scores that the API has at a path. */
export function SaveScores({ from }: { from: string }) {
  return (
    <Button
      component="a"
      href={address(from)}
      download
      variant="default"
      size="xs"
      leftSection={<IconDownload size={16} />}
    >
      Save scores (CSV)
    </Button>
  );
}
