import { Button } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { address } from "@/api/client";

interface DownloadCsvProps {
  from: string;
  query?: { project?: string[] };
  label?: string;
}

/** Link that downloads a table at an API path as CSV. */
export function DownloadCsv({ from, query = {}, label = "Download scores (CSV)" }: DownloadCsvProps) {
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
