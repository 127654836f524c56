import { Menu } from "@mantine/core";
import { IconDots } from "@tabler/icons-react";
import { useRef, useState } from "react";
import { lazyPart } from "@/ui/lazyPart";
import classes from "./RunMenu.module.css";
import type { RunMenuProps } from "./RunMenuContent";

const RunMenuContent = lazyPart(() => import("./RunMenuContent").then((module) => module.RunMenuContent));

/**
 * Menu of the actions for one run. A disabled action says why. Until it is used it is only a button, because tables
 * have many.
 */
export function RunMenu(props: RunMenuProps) {
  const [opened, setOpened] = useState(false);
  const [isUsed, setUsed] = useState(false);
  // A press outside of the menu has closed it before the click.
  const wasOpened = useRef(false);
  const label = `Actions for ${props.run.name}`;
  return (
    <span className={classes.place}>
      <button
        type="button"
        className={classes.button}
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={opened}
        onPointerDown={() => (wasOpened.current = opened)}
        onClick={() => {
          setUsed(true);
          setOpened(!wasOpened.current);
          wasOpened.current = false;
        }}
      >
        <IconDots size={18} aria-hidden />
      </button>
      {isUsed && (
        <Menu width={256} keepMounted={false} opened={opened} onChange={setOpened} position="bottom-end">
          <Menu.Target>
            <span className={classes.anchor} aria-hidden aria-label={label} />
          </Menu.Target>
          <RunMenuContent {...props} />
        </Menu>
      )}
    </span>
  );
}
