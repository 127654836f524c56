import { ActionIcon, Button, Group, Menu, Paper, Text, Tooltip } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { IconDots, IconX } from "@tabler/icons-react";
import { type ReactNode, useEffect, useRef } from "react";
import { Link } from "react-router";
import { useShortcuts } from "@/ui/shortcuts";
import classes from "./runs.module.css";

/** An action in the toolbar: a button, or a link to a page or a file. */
export interface ToolbarItem {
  label: string;
  onClick?: () => void;
  /** Address of a page. */
  to?: string;
  /** Address of a file. */
  href?: string;
  title?: string;
  disabled?: boolean;
  danger?: boolean;
  /** The action that a phone shows beside the menu, unless it is disabled. */
  isMain?: boolean;
}

interface BulkToolbarProps {
  /** Which runs are selected. */
  status: string;
  /** Selects more runs. */
  more?: ToolbarItem | undefined;
  items: readonly ToolbarItem[];
  onClear: () => void;
  /** Dialogs, and what the actions have skipped. */
  children: ReactNode;
}

/** Toolbar at the bottom of the window for the selected runs. On a phone, it is one row with a menu. */
export function BulkToolbar({ status, more, items, onClear, children }: BulkToolbarProps) {
  const narrow = useMediaQuery("(max-width: 48em)", window.matchMedia("(max-width: 48em)").matches);
  const bar = useNoticeOffset();
  const focus = () => bar.current?.querySelector<HTMLElement>("button:not(:disabled), a")?.focus();
  useShortcuts([{ keys: "b", does: "Actions for the selected runs", run: focus }]);
  const enabled = items.filter(({ disabled }) => !disabled);
  const main = enabled.find(({ isMain }) => isMain) ?? enabled[0];
  return (
    <Paper ref={bar} className={classes.bulk} shadow="md" withBorder role="region" aria-label="Selected runs">
      <Group gap="xs" wrap={narrow ? "nowrap" : "wrap"}>
        <Text size="sm" fw={500} role="status" className={classes.bulkStatus}>
          {status}
        </Text>
        {narrow ? (
          <>
            {main && <ItemButton item={main} size="sm" />}
            <Menu width={240} position="top-end">
              <Menu.Target>
                <ActionIcon size={44} aria-label="More actions">
                  <IconDots size={20} />
                </ActionIcon>
              </Menu.Target>
              <Menu.Dropdown>
                {more && <Menu.Item onClick={more.onClick}>{more.label}</Menu.Item>}
                {items
                  .filter((item) => item !== main)
                  .map((item) => (
                    <ItemEntry key={item.label} item={item} />
                  ))}
              </Menu.Dropdown>
            </Menu>
          </>
        ) : (
          <>
            {more && (
              <Button variant="subtle" size="xs" onClick={more.onClick}>
                {more.label}
              </Button>
            )}
            {items.map((item) => (
              <ItemButton key={item.label} item={item} size="xs" />
            ))}
          </>
        )}
        <Tooltip label="Clear selection">
          <ActionIcon size={narrow ? 44 : 28} aria-label="Clear selection" onClick={onClear}>
            <IconX size={16} />
          </ActionIcon>
        </Tooltip>
      </Group>
      {children}
    </Paper>
  );
}

const colorOf = ({ danger, disabled }: ToolbarItem) =>
  danger && !disabled ? "var(--mantine-color-error)" : undefined;

function ItemButton({ item, size }: { item: ToolbarItem; size: "xs" | "sm" }) {
  const { label, onClick, to, href, title, disabled } = item;
  const look = { size, variant: "default", title, h: size === "sm" ? 44 : undefined } as const;
  if (to !== undefined)
    return (
      <Button {...look} component={Link} to={to}>
        {label}
      </Button>
    );
  if (href !== undefined)
    return (
      <Button {...look} component="a" href={href} download>
        {label}
      </Button>
    );
  return (
    <Button {...look} c={colorOf(item)} disabled={disabled} onClick={onClick}>
      {label}
    </Button>
  );
}

function ItemEntry({ item }: { item: ToolbarItem }) {
  const { label, onClick, to, href, disabled } = item;
  if (to !== undefined)
    return (
      <Menu.Item component={Link} to={to}>
        {label}
      </Menu.Item>
    );
  if (href !== undefined)
    return (
      <Menu.Item component="a" href={href} download>
        {label}
      </Menu.Item>
    );
  return (
    <Menu.Item c={colorOf(item)} disabled={disabled} onClick={onClick}>
      {label}
    </Menu.Item>
  );
}

/** Return the ref of a bar at the bottom of the window. Notices are shown above it. */
function useNoticeOffset() {
  const bar = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = bar.current;
    if (!element) return;
    const { style } = document.documentElement;
    const measure = () => style.setProperty("--arcadia-bar-height", `${element.offsetHeight + 16}px`);
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    return () => {
      observer.disconnect();
      style.removeProperty("--arcadia-bar-height");
    };
  }, []);
  return bar;
}
