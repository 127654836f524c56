import { Button, type ButtonProps, Tooltip } from "@mantine/core";
import type { ReactNode, Ref } from "react";
import { Link } from "react-router";

interface BlockableButtonProps extends ButtonProps {
  /** Reason why the action is unavailable, as a sentence, or null. */
  blocked: string | null;
  /** Explanation of an available action. */
  tooltip?: string;
  /** Address that the button opens, instead of `onClick`. */
  to?: string;
  type?: "submit";
  onClick?: () => void;
  /** Reference to the button, for one without `to`. */
  ref?: Ref<HTMLButtonElement>;
  "aria-label"?: string;
  "aria-expanded"?: boolean;
  children: ReactNode;
}

/** Button of an action that can be unavailable. It stays focusable, so that the reason can be read. */
export function BlockableButton({
  blocked,
  tooltip,
  to,
  type,
  onClick,
  ref,
  ...button
}: BlockableButtonProps) {
  const label = blocked ?? tooltip;
  // A link may open a part of the same page, where no pointer leaves the button after a tap.
  const events = { hover: true, focus: true, touch: blocked !== null };
  return (
    <Tooltip label={label} disabled={label === undefined} events={events} multiline maw={320}>
      {blocked !== null ? (
        <Button ref={ref} {...button} aria-disabled data-disabled />
      ) : to === undefined ? (
        <Button ref={ref} {...button} type={type} onClick={onClick} />
      ) : (
        <Button {...button} component={Link} to={to} />
      )}
    </Tooltip>
  );
}
