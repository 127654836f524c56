import { Button, List, Stack, Text } from "@mantine/core";
import { IconLock } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { Link } from "react-router";
import { accountQuery } from "@/api/session";
import { EmptyState } from "@/ui/EmptyState";
import { usePageTitle } from "@/ui/usePageTitle";

const CHECK_MILLISECONDS = 10_000;

/** Page in place of all pages with data, for a person who has no role in any project. */
export function NoRolePage({ hadRole }: { hadRole: boolean }) {
  const title = hadRole ? "Your last role has ended" : "You have no role yet";
  usePageTitle(title);
  const client = useQueryClient();
  const { data: account } = useQuery({ ...accountQuery, refetchInterval: CHECK_MILLISECONDS });
  // With a role, the lists that were empty are not.
  useEffect(() => () => void client.invalidateQueries(), [client]);
  const administrators = account?.administrators ?? [];
  return (
    <EmptyState icon={IconLock} title={title} alone>
      <Stack align="center" gap="md">
        <span>
          You see runs, reports and everything else of a project as soon as you have a role in it. Its
          administrators can give you one
          {administrators.length > 0 ? ", and so can the administrators of this server:" : "."}
        </span>
        {administrators.length > 0 && (
          <List listStyleType="none" aria-label="Administrators">
            {administrators.map((name) => (
              <List.Item key={name} fw={600} c="var(--mantine-color-text)">
                {name}
              </List.Item>
            ))}
          </List>
        )}
        <Text size="sm">This page opens automatically then.</Text>
        <Button component={Link} to="/settings" variant="default">
          Open your account
        </Button>
      </Stack>
    </EmptyState>
  );
}
