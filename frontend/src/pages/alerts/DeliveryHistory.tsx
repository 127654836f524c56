import { Button, Table, Text, Title, VisuallyHidden } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { deliveriesQuery, useSendAgain } from "@/api/alerts";
import type { AlertDelivery } from "@/api/types";
import { plural } from "@/ui/format";
import { TimeAgo } from "@/ui/Quantity";
import { QueryError } from "@/ui/QueryError";
import { WideTable } from "@/ui/WideTable";
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
      {items?.length === 0 && <Text size="sm">Nothing was sent yet.</Text>}
      {items && items.length > 0 && <DeliveryTable deliveries={items} />}
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
    <WideTable label="Deliveries">
      <Table verticalSpacing="xs">
        <Table.Thead>
          <Table.Tr>
            {["Alert", "Channel", "State", "Created"].map((title) => (
              <Table.Th key={title} scope="col">
                {title}
              </Table.Th>
            ))}
            <Table.Th scope="col">
              <VisuallyHidden>Actions</VisuallyHidden>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {deliveries.map((delivery) => (
            <DeliveryRow key={delivery.id} delivery={delivery} />
          ))}
        </Table.Tbody>
      </Table>
    </WideTable>
  );
}

function DeliveryRow({ delivery }: { delivery: AlertDelivery }) {
  const again = useSendAgain();
  return (
    <Table.Tr>
      <Table.Td miw={160}>{delivery.title}</Table.Td>
      <Table.Td>{delivery.channel}</Table.Td>
      <Table.Td miw={200}>
        <span className={classes.state} data-state={delivery.state}>
          {STATES[delivery.state]}
        </span>
        {delivery.tries > 0 && (
          <span className={classes.dim}> after {plural(delivery.tries, "try", "tries")}</span>
        )}
        {delivery.error && <p className={classes.problem}>{delivery.error}</p>}
        {delivery.error && delivery.response && <p className={classes.dim}>{delivery.response}</p>}
      </Table.Td>
      <Table.Td>
        <TimeAgo time={delivery.created_at} />
      </Table.Td>
      <Table.Td>
        <Button
          size="xs"
          variant="default"
          aria-label={`Send again: ${delivery.title} to ${delivery.channel}`}
          loading={again.isPending}
          onClick={() => again.mutate(delivery.id)}
        >
          Send again
        </Button>
      </Table.Td>
    </Table.Tr>
  );
}
