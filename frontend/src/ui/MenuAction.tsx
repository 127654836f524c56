import { Menu } from "@mantine/core";
import type { Icon as TablerIcon } from "@tabler/icons-react";
import { Link } from "react-router";

interface MenuActionProps {
  Icon: TablerIcon;
  label: string;
  disabled?: boolean;
  /** Page that the item opens, instead of `onClick`. */
  to?: string;
  /** File that the item downloads, instead of `onClick`. */
  href?: string;
  onClick?: () => void;
}

/** Menu item with an icon: a button, a link to a page, or a download. */
export function MenuAction({ Icon, label, disabled = false, to, href, onClick }: MenuActionProps) {
  const icon = <Icon size={16} aria-hidden />;
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
    </Menu.Item>
  );
}
