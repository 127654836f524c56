import { Button, Text, Title } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { deliveriesQuery, useSendAgain } from "@/api/alerts";
import type { AlertDelivery } from "@/api/types";
import { DataTable } from "@/ui/DataTable";
import { plural } from "@/ui/format";
import { TimeAgo } from "@/ui/Quantity";
import { QueryError } from "@/ui/QueryError";
import classes from "./alerts.module.css";

const STATES = { waiting: "Waiting", delivered: "Delivered", failed: "Failed" };

/** The deliveries to all channels, newest first. */
export function DeliveryHistory() {
  const deliveries = useInfiniteQuery(deliveriesQuery);
  const items = deliveries.data?.pages.flatMap((page) => page.items);
  return (
    <section className={classes.card} aria-label="History">
      <Title order={2} mb="xs">
        History
      </Title>
      {deliveries.isError && !items && (
        <QueryError error={deliveries.error} retry={() => void deliveries.refetch()} />
      )}
      {items && <DeliveryTable deliveries={items} />}
      {deliveries.hasNextPage && (
        <Button
          variant="default"
          size="xs"
          mt="xs"
          loading={deliveries.isFetchingNextPage}
          onClick={() => void deliveries.fetchNextPage()}
        >
          Show older deliveries
        </Button>
      )}
    </section>
  );
}

function DeliveryTable({ deliveries }: { deliveries: readonly AlertDelivery[] }) {
  return (
    <DataTable
      label="Deliveries"
      verticalSpacing="xs"
      rows={deliveries}
      rowKey={({ id }) => id}
      empty={<Text size="sm">Nothing was sent yet.</Text>}
      columns={[
        { title: "Alert", cell: ({ title }) => title, cellProps: () => ({ miw: 160 }) },
        { title: "Channel", cell: ({ channel }) => channel },
        {
          title: "State",
          cell: (delivery) => <DeliveryState delivery={delivery} />,
          cellProps: () => ({ miw: 200 }),
        },
        { title: "Created", cell: (delivery) => <TimeAgo time={delivery.created_at} /> },
        {
          title: "Actions",
          isTitleHidden: true,
          cell: (delivery) => <SendAgainButton delivery={delivery} />,
        },
      ]}
    />
  );
}

function DeliveryState({ delivery }: { delivery: AlertDelivery }) {
  return (
    <>
      <span className={classes.state} data-state={delivery.state}>
        {STATES[delivery.state]}
      </span>
      {delivery.tries > 0 && (
        <span className={classes.dim}> after {plural(delivery.tries, "try", "tries")}</span>
      )}
      {delivery.error && <p className={classes.problem}>{delivery.error}</p>}
      {delivery.error && delivery.response && <p className={classes.dim}>{delivery.response}</p>}
    </>
  );
}

function SendAgainButton({ delivery }: { delivery: AlertDelivery }) {
  const again = useSendAgain();
  return (
    <Button
      size="xs"
      variant="default"
      aria-label={`Send again: ${delivery.title} to ${delivery.channel}`}
      loading={again.isPending}
      onClick={() => again.mutate(delivery.id)}
    >
      Send again
    </Button>
  );
}
