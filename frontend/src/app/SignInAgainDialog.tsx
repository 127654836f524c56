import { Button, Group, Modal, PasswordInput, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useEffect, useState } from "react";
import { accountQuery, providerAddress, useSignInAgain } from "@/api/session";
import type { Account } from "@/api/types";
import { placeErrors } from "@/config-form/serverErrors";
import { FormErrors } from "@/ui/FormErrors";

/** Page that the provider's tab shows at the end. */
export const SIGNED_IN_AGAIN = "/signed-in-again";
/** How often the page looks whether the person has signed in again in another tab. */
const CHECK_MS = 2_000;
/** The modal below must not close with this one, by the same key. */
const OWN_KEYS = { "data-mantine-stop-propagation": "true" };

interface SignInAgainDialogProps {
  onAnswer: (proved: boolean) => void;
}

/** Dialog in which a person proves again who they are, by a password or at the provider. */
export function SignInAgainDialog({ onAnswer }: SignInAgainDialogProps) {
  const [isAtProvider, setAtProvider] = useState(false);
  const account = useQuery({ ...accountQuery, refetchInterval: isAtProvider ? CHECK_MS : false }).data;
  const hasProved = isAtProvider && Boolean(account?.fresh_until);
  useEffect(() => {
    if (hasProved) onAnswer(true);
  }, [hasProved, onAnswer]);
  const cancel = () => onAnswer(false);
  return (
    <Modal
      opened
      onClose={cancel}
      closeOnEscape={false}
      onKeyDown={(event) => event.key === "Escape" && cancel()}
      title="Sign in again"
      closeButtonProps={{ "aria-label": "Close", ...OWN_KEYS }}
    >
      <Stack gap="md">
        <Text size="sm">
          This changes who may do what here, so Arcadia asks who you are. It asks again after 15 minutes.
        </Text>
        {account?.proofs.includes("password") && (
          <Password account={account} onProved={() => onAnswer(true)} onCancel={cancel} />
        )}
        {account?.proofs.includes("provider") && (
          <Stack gap="xs">
            <Button
              component="a"
              href={providerAddress(SIGNED_IN_AGAIN, true)}
              target="_blank"
              variant={account.proofs.includes("password") ? "default" : "filled"}
              onClick={() => setAtProvider(true)}
              {...OWN_KEYS}
            >
              Sign in at your provider
            </Button>
            {isAtProvider && (
              <Text size="sm" c="dimmed" role="status">
                Sign in in the new tab, and return to this one.
              </Text>
            )}
          </Stack>
        )}
        {account?.proofs.length === 0 && (
          <Text size="sm">
            Your account has neither a password nor a provider. Ask an administrator for a one-time link.
          </Text>
        )}
      </Stack>
    </Modal>
  );
}

interface PasswordProps {
  account: Account;
  onProved: () => void;
  onCancel: () => void;
}

function Password({ account, onProved, onCancel }: PasswordProps) {
  const [password, setPassword] = useState("");
  const again = useSignInAgain();
  const { byField = {}, general = [] } = again.error ? placeErrors(again.error, ["password"]) : {};
  function submit(event: FormEvent) {
    event.preventDefault();
    // The dialog may be inside of the form that waits for it.
    event.stopPropagation();
    again.mutate(password, { onSuccess: onProved });
  }
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        <input type="text" autoComplete="username" value={account.person?.email ?? ""} readOnly hidden />
        <PasswordInput
          label="Password"
          description={account.person?.email}
          autoComplete="current-password"
          value={password}
          error={byField.password}
          onChange={(event) => setPassword(event.currentTarget.value)}
          data-autofocus
          {...OWN_KEYS}
        />
        <FormErrors messages={general} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onCancel} {...OWN_KEYS}>
            Cancel
          </Button>
          <Button type="submit" loading={again.isPending} disabled={!password} {...OWN_KEYS}>
            Sign in
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
