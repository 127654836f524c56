import { Anchor, Container, Stack, Text, Title } from "@mantine/core";
import { Link } from "react-router";
import { usePageTitle } from "@/ui/usePageTitle";

export function NotFoundPage() {
  usePageTitle("Not found");
  return (
    <Container size="sm" py="xl">
      <Stack gap="xs">
        <Title order={1}>There is no such page</Title>
        <Text>
          <Anchor component={Link} to="/">
            Go to the runs
          </Anchor>
        </Text>
      </Stack>
    </Container>
  );
}
