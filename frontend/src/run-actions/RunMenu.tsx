import { ActionIcon, Menu } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconDots } from "@tabler/icons-react";
import { lazyPart } from "@/ui/lazyPart";
import type { RunMenuProps } from "./RunMenuContent";

const RunMenuContent = lazyPart(() => import("./RunMenuContent").then((module) => module.RunMenuContent));

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
