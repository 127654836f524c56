import { Button, Stack } from "@mantine/core";
import { Link, useLocation } from "react-router";
import { EmptyState } from "@/ui/EmptyState";
import { usePageTitle } from "@/ui/usePageTitle";
import classes from "./Shell.module.css";

export function NotFoundPage() {
  usePageTitle("Page not found");
  const { pathname } = useLocation();
  return (
    <EmptyState title="Page not found" alone>
      <Stack align="center" gap="md">
        <span className={classes.address}>Arcadia has no page at {pathname}.</span>
        <Button component={Link} to="/" variant="default">
          Go to runs
        </Button>
      </Stack>
    </EmptyState>
  );
}
