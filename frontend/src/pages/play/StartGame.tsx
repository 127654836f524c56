import { Alert, Button, Stack, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useEffect } from "react";
import { useNavigate } from "react-router";
import { OWN_ERRORS } from "@/api/mutationState";
import type { PlayedGame } from "@/api/types";

interface StartGameProps {
  start: () => Promise<PlayedGame>;
  addressOf: (id: number) => string;
}

/** Requests a game and opens its URL. */
export function StartGame({ start, addressOf }: StartGameProps) {
  const navigate = useNavigate();
  const { mutate, error } = useMutation({
    mutationFn: start,
    meta: OWN_ERRORS,
    onSuccess: ({ id }) => void navigate(addressOf(id), { replace: true }),
  });
  useEffect(mutate, [mutate]);
  if (!error) return <Text role="status">Requesting a game…</Text>;
  return (
    <Alert color="red" variant="light" title="The game could not start">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{error.message}</Text>
        <Button size="xs" variant="default" onClick={() => mutate()}>
          Try again
        </Button>
      </Stack>
    </Alert>
  );
}
