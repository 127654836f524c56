import { Menu, Text } from "@mantine/core";
import type { Icon as TablerIcon } from "@tabler/icons-react";
import { Link } from "react-router";
import classes from "./MenuAction.module.css";

interface MenuActionProps {
  Icon?: TablerIcon;
  label: string;
  color?: string;
  disabled?: boolean;
  /** Reason why the action is unavailable, as a sentence. It disables the item. */
  blocked?: string | null;
  /** Page that the item opens, instead of `onClick`. */
  to?: string;
  /** File that the item downloads, instead of `onClick`. */
  href?: string;
  onClick?: () => void;
}

/**
 * Menu item: a button, a link to a page, or a download. A disabled item can have the focus, because a menu
 * focuses its first item when it opens. A screen reader reads its reason.
 */
export function MenuAction({
  Icon,
  label,
  color,
  blocked = null,
  to,
  href,
  onClick,
  ...props
}: MenuActionProps) {
  const icon = Icon && <Icon size={16} aria-hidden />;
  const disabled = blocked !== null || (props.disabled ?? false);
  // A disabled link would still be a link for screen readers.
  if (to !== undefined && !disabled) {
    return (
      <Menu.Item component={Link} to={to} leftSection={icon}>
        {label}
      </Menu.Item>
    );
  }
  if (href !== undefined && !disabled) {
    return (
      <Menu.Item component="a" href={href} download leftSection={icon}>
        {label}
      </Menu.Item>
    );
  }
  return (
    <Menu.Item
      aria-disabled={disabled || undefined}
      className={disabled ? classes.disabled : undefined}
      closeMenuOnClick={!disabled}
      color={color}
      leftSection={icon}
      onClick={disabled ? undefined : onClick}
    >
      {label}
      <Refusal>{blocked}</Refusal>
    </Menu.Item>
  );
}

/** Reason below the label of a disabled menu item. */
function Refusal({ children }: { children: string | null }) {
  if (children === null) return null;
  return (
    <Text size="xs" c="dimmed" component="span" display="block">
      {children}
    </Text>
  );
}
