import { ActionIcon, Menu } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconDots } from "@tabler/icons-react";
import type { ReactNode } from "react";
import type { ListedRun, Run } from "@/api/types";
import { lazyPart } from "@/ui/lazyPart";

const RunMenuContent = lazyPart(() => import("./RunMenuContent").then((module) => module.RunMenuContent));

export interface RunMenuProps {
  run: ListedRun;
  onLaunched?: (copy: Run) => void;
  onPurged?: () => void;
  /** More items, after those that start and stop the run. */
  children?: ReactNode;
}

/** Menu of the actions for one run. A disabled action says why. It is empty until used: tables have many. */
export function RunMenu(props: RunMenuProps) {
  const [isUsed, use] = useDisclosure(false);
  return (
    <Menu width={256} keepMounted={false} onOpen={use.open}>
      <Menu.Target>
        <ActionIcon size={32} aria-label={`Actions for ${props.run.name}`}>
          <IconDots size={18} />
        </ActionIcon>
      </Menu.Target>
      {isUsed && <RunMenuContent {...props} />}
    </Menu>
  );
}
