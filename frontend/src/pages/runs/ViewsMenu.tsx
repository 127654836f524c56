import { Button, Group, Menu, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconBookmark, IconChevronDown } from "@tabler/icons-react";
import { lazyPart } from "@/ui/lazyPart";
import classes from "./ChartPanel.module.css";
import type { ViewsMenuProps } from "./ViewsMenuContent";

const ViewsMenuContent = lazyPart(() =>
  import("./ViewsMenuContent").then((module) => module.ViewsMenuContent),
);

/** Menu of the saved views. Its items are loaded when it is first opened. */
export function ViewsMenu(props: ViewsMenuProps) {
  const { opened, missing, isChanged } = props.saved;
  const [isUsed, use] = useDisclosure(false);
  return (
    <Group gap={8} wrap="nowrap">
      <Menu width={280} position="bottom-start" keepMounted={false} onOpen={use.open}>
        <Menu.Target>
          <Button
            variant="default"
            size="xs"
            h={32}
            leftSection={<IconBookmark size={16} />}
            rightSection={<IconChevronDown size={14} />}
          >
            <span className={classes.viewName}>{opened ? `View: ${opened.name}` : "Views"}</span>
          </Button>
        </Menu.Target>
        {isUsed && <ViewsMenuContent {...props} />}
      </Menu>
      <Text size="xs" c="dimmed" role="status">
        {missing !== null && `There is no view ${missing} here.`}
        {isChanged && "Unsaved changes"}
      </Text>
    </Group>
  );
}
