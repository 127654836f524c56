import { Skeleton, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useParams } from "react-router";
import { sharedReportQuery, sharedSource } from "@/api/reports";
import { isRefusal } from "@/api/problem";
import { EmptyState } from "@/ui/EmptyState";
import { TimeAgo } from "@/ui/Quantity";
import { QueryError } from "@/ui/QueryError";
import { usePageTitle } from "@/ui/usePageTitle";
import { BlockView } from "./BlockView";
import classes from "./reports.module.css";

/** Page of a shared report, without navigation. */
export default function SharedReportPage() {
  const { token = "" } = useParams();
  const { data: report, error, isPending, refetch } = useQuery(sharedReportQuery(token));
  usePageTitle(report?.title ?? "Report");
  if (isRefusal(error))
    return (
      <main>
        <EmptyState title="Report not found" alone>
          The link was revoked or is incomplete. Ask the sender for a new one.
        </EmptyState>
      </main>
    );
  const source = report && sharedSource(token, report.version);
  return (
    <main>
      <Stack className={classes.sheet} gap="md">
        {isPending && <Skeleton height={320} radius="sm" role="status" aria-label="Loading the report…" />}
        {!report && error && <QueryError error={error} retry={() => void refetch()} />}
        {report && source && (
          <>
            <Title order={1} className={classes.block}>
              {report.title}
            </Title>
            {report.blocks.map(
              (block, place) =>
                block.kind !== "draft" && (
                  <BlockView key={`${place} ${block.kind}`} source={source} block={block} place={place} />
                ),
            )}
            <Text size="xs" c="dimmed">
              Changed <TimeAgo time={report.updated_at} />. Charts and tables show current data.
            </Text>
          </>
        )}
      </Stack>
    </main>
  );
}
