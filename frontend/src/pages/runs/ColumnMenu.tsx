import { ActionIcon, Popover, Tooltip } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconColumns3 } from "@tabler/icons-react";
import { lazyPart } from "@/ui/lazyPart";
import type { ColumnMenuProps } from "./ColumnPanel";

const ColumnPanel = lazyPart(() => import("./ColumnPanel").then((module) => module.ColumnPanel));

/** Button that opens the choice of the columns. */
export function ColumnMenu(props: ColumnMenuProps) {
  const [isUsed, use] = useDisclosure(false);
  return (
    <Popover position="bottom-end" shadow="md" width={400} trapFocus onOpen={use.open}>
      <Popover.Target>
        <Tooltip label="Choose columns">
          <ActionIcon size={32} aria-label="Choose columns" visibleFrom="sm">
            <IconColumns3 size={18} stroke={1.75} />
          </ActionIcon>
        </Tooltip>
      </Popover.Target>
      {isUsed && <ColumnPanel {...props} />}
    </Popover>
  );
}
