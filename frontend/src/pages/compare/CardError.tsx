import { Title } from "@mantine/core";
import { QueryError } from "@/ui/QueryError";
import classes from "./compare.module.css";

interface CardErrorProps {
  title: string;
  error: Error;
  retry: () => void;
}

/** Card whose content could not be loaded. */
export function CardError({ title, error, retry }: CardErrorProps) {
  return (
    <section className={classes.card} aria-label={title}>
      <Title order={2} mb="xs">
        {title}
      </Title>
      <QueryError error={error} retry={retry} />
    </section>
  );
}
