import type { Alert } from "@/api/types";
import { browserStorage } from "./pageStorage";

/** The last alert that this browser has shown. Absent if it shows none. */
const PLACE = "notified-alert";
/** If there are more alerts, one notification shows their number. */
const MAX_SHOWN = 3;

export type NotificationState = "unsupported" | "denied" | "off" | "on";

/** Return whether this browser shows alerts, or why it cannot. */
export function notificationState(): NotificationState {
  if (!("Notification" in window && window.Notification) || window.isSecureContext === false)
    return "unsupported";
  if (Notification.permission === "denied") return "denied";
  return Notification.permission === "granted" && lastShown() !== null ? "on" : "off";
}

const lastShown = () => browserStorage.read<number>(PLACE);

/** Ask for the permission, and show alerts after `newest` from now on. */
export async function startNotifications(newest: number): Promise<NotificationState> {
  if ((await Notification.requestPermission()) !== "granted") return notificationState();
  try {
    new Notification("Arcadia shows its alerts here", { tag: "arcadia-alerts", icon: "/logo.svg" });
  } catch {
    // Browsers of phones let only service workers show notifications.
    return "unsupported";
  }
  browserStorage.keep(PLACE, newest);
  return notificationState();
}

export function stopNotifications(): void {
  browserStorage.forget(PLACE);
}

/** Return the page that an alert is about. */
export function pageOfAlert(alert: Alert): string {
  if (alert.run_id !== null) return `/runs/${alert.run_id}`;
  return alert.study_id === null ? "/alerts" : `/studies/${alert.study_id}`;
}

/** Show the alerts that this browser has not shown yet. Several tabs show each alert once, because of its tag. */
export function showNewAlerts(newestFirst: readonly Alert[], open: (path: string) => void): void {
  if (notificationState() !== "on") return;
  const after = lastShown() ?? 0;
  const unseen = newestFirst.filter(({ id }) => id > after);
  const [newest] = unseen;
  if (!newest) return;
  browserStorage.keep(PLACE, newest.id);
  for (const alert of unseen.slice(0, MAX_SHOWN).reverse())
    show(alert.title, alert.text, `arcadia-alert-${alert.id}`, () => open(pageOfAlert(alert)));
  const more = unseen.length - MAX_SHOWN;
  if (more > 0)
    show(`${more} more alerts`, "Open Arcadia to see them.", "arcadia-alerts", () => open("/alerts"));
}

function show(title: string, body: string, tag: string, onOpen: () => void): void {
  const notification = new Notification(title, { body, tag, icon: "/logo.svg" });
  notification.onclick = () => {
    window.focus();
    notification.close();
    onOpen();
  };
}
