import { Button } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { address } from "@/api/client";

interface DownloadScoresProps {
  from: string;
  query?: { project?: string[] };
  label?: string;
}

/** Link that downloads the scores at an API path as CSV. */
export function DownloadScores({ from, query = {}, label = "Download scores (CSV)" }: DownloadScoresProps) {
  return (
    <Button
      component="a"
      href={address(from, query)}
      download
      variant="default"
      size="xs"
      leftSection={<IconDownload size={16} />}
    >
      {label}
    </Button>
  );
}
