import { Button, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useRevokeAllTokens } from "@/api/people";
import { ConfirmModal } from "@/ui/ConfirmModal";
import { notifyDone } from "@/ui/notify";

/** Button that revokes all of your tokens, after a question. */
export function RevokeAllTokens() {
  const revoke = useRevokeAllTokens();
  const [isAsking, asking] = useDisclosure(false);
  return (
    <>
      <Button size="xs" variant="default" onClick={asking.open}>
        Revoke all tokens
      </Button>
      {isAsking && (
        <ConfirmModal
          opened
          title="Revoke all of your tokens?"
          action="Revoke all tokens"
          danger
          busy={revoke.isPending}
          onConfirm={() =>
            revoke.mutate(undefined, {
              onSuccess: () => notifyDone("Your tokens are revoked."),
              onSettled: asking.close,
            })
          }
          onClose={asking.close}
        >
          <Text size="sm">
            Scripts and terminals that send them stop working within seconds. This cannot be undone.
          </Text>
        </ConfirmModal>
      )}
    </>
  );
}
