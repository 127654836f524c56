import { Button, Group, Modal, Stack, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { useCreateToken } from "@/api/people";
import type { Account, CreatedToken, TokenScope } from "@/api/types";
import { placeErrors } from "@/config-form/serverErrors";
import { FormErrors } from "@/ui/FormErrors";
import { defaultDays, TokenFields, type TokenLimits } from "@/ui/TokenFields";

const SCOPES: readonly TokenScope[] = ["read", "write", "log"];

interface CreateTokenProps {
  account: Account;
  onCreated: (token: CreatedToken) => void;
  onClose: () => void;
}

/** Dialog to create a token. */
export function CreateToken({ account, onCreated, onClose }: CreateTokenProps) {
  const create = useCreateToken();
  const [name, setName] = useState("");
  const [limits, setLimits] = useState<TokenLimits>({
    scopes: ["read"],
    project: null,
    days: defaultDays(account.max_token_days),
  });
  const { byField, general } = create.error
    ? placeErrors(create.error, ["name", "scopes", "project", "days"])
    : { byField: {} as Record<string, string>, general: [] };

  function submit(event: FormEvent) {
    event.preventDefault();
    create.mutate(
      { name: name.trim(), ...limits },
      {
        onSuccess: (token) => {
          onClose();
          onCreated(token);
        },
      },
    );
  }

  return (
    <Modal opened onClose={onClose} title="Create token" closeButtonProps={{ "aria-label": "Close" }}>
      <form onSubmit={submit} noValidate>
        <Stack gap="md">
          <TextInput
            data-autofocus
            label="Name"
            description="What uses it, such as cluster or notebook"
            maxLength={100}
            value={name}
            error={byField.name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <TokenFields
            limits={limits}
            maxDays={account.max_token_days}
            offered={account.is_administrator ? [...SCOPES, "worker"] : SCOPES}
            problems={byField}
            onChange={setLimits}
          />
          <FormErrors messages={general} />
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button
              type="submit"
              loading={create.isPending}
              disabled={!name.trim() || limits.scopes.length === 0}
            >
              Create token
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
