import { Title } from "@mantine/core";
import { QueryError } from "@/ui/QueryError";
import classes from "./compare.module.css";

interface CardProblemProps {
  title: string;
  error: Error;
  retry: () => void;
}

/** A card whose content could not be fetched. */
export function CardProblem({ title, error, retry }: CardProblemProps) {
  return (
    <section className={classes.card} aria-label={title}>
      <Title order={2} mb="xs">
        {title}
      </Title>
      <QueryError error={error} retry={retry} />
    </section>
  );
}
