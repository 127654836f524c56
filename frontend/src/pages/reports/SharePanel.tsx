import { Button, Group, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { useShareReport } from "@/api/reports";
import type { Report } from "@/api/types";
import { ConfirmModal } from "@/ui/ConfirmModal";
import { notifyDone } from "@/ui/notify";
import { useCatchFocus } from "@/ui/useCatchFocus";
import { copyText } from "@/ui/useCopy";

/** Buttons to create, copy and revoke the read-only link. */
export function SharePanel({ report }: { report: Report }) {
  const share = useShareReport(report.id);
  const make = useCatchFocus<HTMLButtonElement>(report.share_token === null);
  const link = `${window.location.origin}/shared/reports/${report.share_token}`;
  async function copy() {
    if (await copyText(link)) notifyDone("Link copied. It opens this report without a sign-in.");
  }
  if (report.share_token === null)
    return (
      <Button
        ref={make}
        variant="default"
        w="fit-content"
        h={32}
        px="sm"
        loading={share.isPending}
        onClick={() => share.mutate(true)}
      >
        Share link
      </Button>
    );
  return (
    <Group gap="xs" align="end" w="100%">
      <TextInput
        label="Read-only link"
        description="Anyone with this link can read this report without a sign-in."
        value={link}
        readOnly
        style={{ flex: 1, minWidth: 220 }}
        onFocus={(event) => event.currentTarget.select()}
      />
      <Button h={36} px="sm" onClick={() => void copy()}>
        Copy link
      </Button>
      <RevokeLink report={report} />
    </Group>
  );
}

function RevokeLink({ report }: { report: Report }) {
  const [asked, setAsked] = useState(false);
  const share = useShareReport(report.id);
  const close = () => setAsked(false);
  return (
    <>
      <Button variant="default" h={36} px="sm" onClick={() => setAsked(true)}>
        Revoke
      </Button>
      <ConfirmModal
        opened={asked}
        title="Revoke the link?"
        action="Revoke link"
        danger
        busy={share.isPending}
        onConfirm={() => share.mutate(false, { onSettled: close })}
        onClose={close}
      >
        <Text size="sm">The link stops working. You can create a new link later.</Text>
      </ConfirmModal>
    </>
  );
}
