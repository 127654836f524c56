import { Menu, Text } from "@mantine/core";
import type { Icon as TablerIcon } from "@tabler/icons-react";
import { Link } from "react-router";

interface MenuActionProps {
  Icon: TablerIcon;
  label: string;
  disabled?: boolean;
  /** Reason why the action is unavailable, as a sentence. It disables the item. */
  blocked?: string | null;
  /** Page that the item opens, instead of `onClick`. */
  to?: string;
  /** File that the item downloads, instead of `onClick`. */
  href?: string;
  onClick?: () => void;
}

/** Menu item with an icon: a button, a link to a page, or a download. */
export function MenuAction({ Icon, label, blocked = null, to, href, onClick, ...props }: MenuActionProps) {
  const icon = <Icon size={16} aria-hidden />;
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
    <Menu.Item disabled={disabled} leftSection={icon} onClick={onClick}>
      {label}
      <Refusal>{blocked}</Refusal>
    </Menu.Item>
  );
}

/** Reason below the label of a disabled menu item. */
export function Refusal({ children }: { children: string | null }) {
  if (children === null) return null;
  return (
    <Text size="xs" c="dimmed" component="span" display="block">
      {children}
    </Text>
  );
}
