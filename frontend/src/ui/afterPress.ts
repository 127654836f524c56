let isPressed = false;

window.addEventListener("pointerdown", () => (isPressed = true), true);
for (const end of ["pointerup", "pointercancel"] as const)
  window.addEventListener(end, () => (isPressed = false), true);

/**
 * Run an action now, or after the press in progress. A press takes the focus from a field. If its error appeared then,
 * the pressed button could move away before the pointer is released, and the click would be lost.
 */
export function afterPress(action: () => void): void {
  if (!isPressed) action();
  else window.addEventListener("pointerup", () => setTimeout(action), { once: true });
}
