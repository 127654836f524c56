import { Button, Group, TextInput } from "@mantine/core";
import { useShareReport } from "@/api/reports";
import type { Report } from "@/api/types";
import { notifyDone } from "@/ui/notify";
import { copyText } from "@/ui/useCopy";

/** The read-only link: made, copied, revoked. */
export function SharePanel({ report }: { report: Report }) {
  const share = useShareReport(report.id);
  const link = `${window.location.origin}/shared/reports/${report.share_token}`;
  async function copy() {
    if (await copyText(link))
      notifyDone("Copied. The link opens this report for reading, without a sign-in.");
  }
  if (report.share_token === null)
    return (
      <Button
        variant="default"
        w="fit-content"
        h={32}
        px="sm"
        loading={share.isPending}
        onClick={() => share.mutate(true)}
      >
        Share by a link
      </Button>
    );
  return (
    <Group gap="xs" align="end">
      <TextInput
        label="Link for reading"
        description="Anybody who has it reads this report, without a sign-in, and nothing else."
        value={link}
        readOnly
        style={{ flex: 1, minWidth: 220 }}
        onFocus={(event) => event.currentTarget.select()}
      />
      <Button h={36} px="sm" onClick={() => void copy()}>
        Copy link
      </Button>
      <Button variant="default" h={36} px="sm" loading={share.isPending} onClick={() => share.mutate(false)}>
        Revoke
      </Button>
    </Group>
  );
}
