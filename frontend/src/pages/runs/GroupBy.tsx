import { Button } from "@mantine/core";
import { useState } from "react";
import { lazyPart } from "@/ui/lazyPart";
import type { GroupByProps } from "./GroupFields";

const GroupFields = lazyPart(
  () => import("./GroupFields").then((module) => module.GroupFields),
  () => <Closed />,
);

/** Choice of the fields that the runs are grouped by. Most visits do not use it, so it starts as a button. */
export function GroupBy(props: GroupByProps) {
  const [isOpened, setOpened] = useState(false);
  if (!isOpened && props.view.by.length === 0) return <Closed onOpen={() => setOpened(true)} />;
  return <GroupFields {...props} isOpenedAtFirst={isOpened} />;
}

function Closed({ onOpen }: { onOpen?: () => void }) {
  return (
    <Button
      variant="default"
      size="xs"
      miw={130}
      fw={400}
      justify="flex-start"
      c="dimmed"
      role="combobox"
      aria-expanded={false}
      aria-haspopup="listbox"
      aria-label="Group runs by"
      onClick={onOpen}
    >
      Group by
    </Button>
  );
}
