import type { Alert, AlertChannel, AlertDelivery, AlertPage, AlertRule } from "@/api/types";

const TIME = "2026-01-01T10:00:00Z";

/** An unread alert of a finished run. */
export function anAlert(id: number, changes: Partial<Alert> = {}): Alert {
  return {
    id,
    kind: "run_finished",
    level: "info",
    title: `Run ${id} finished`,
    text: "Its mean return is 21.",
    run_id: id,
    study_id: null,
    created_at: TIME,
    read_at: null,
    ended_at: null,
    ...changes,
  };
}

export function alertPage(items: Alert[], changes: Partial<AlertPage> = {}): AlertPage {
  return {
    items,
    unread: items.filter((alert) => alert.read_at === null).length,
    next_cursor: null,
    ...changes,
  };
}

export const RULES: AlertRule[] = [
  {
    kind: "run_finished",
    title: "Run finished",
    enabled: true,
    threshold: null,
    unit: null,
    rings: false,
    may_edit: true,
  },
  {
    kind: "run_stalled",
    title: "Run stalled",
    may_edit: true,
    enabled: true,
    threshold: 10,
    unit: "minutes without a new point",
    rings: true,
  },
];

export function aChannel(id: number, changes: Partial<AlertChannel> = {}): AlertChannel {
  return {
    id,
    kind: "webhook",
    name: "Team",
    address: "https://example.org/…",
    kinds: null,
    enabled: true,
    created_at: TIME,
    problem: null,
    ...changes,
  };
}

export function aDelivery(id: number, changes: Partial<AlertDelivery> = {}): AlertDelivery {
  return {
    id,
    alert_id: 1,
    title: "Run 1 finished",
    channel_id: 1,
    channel: "Team",
    state: "delivered",
    tries: 1,
    created_at: TIME,
    next_try_at: null,
    ended_at: TIME,
    status: 200,
    response: "ok",
    error: null,
    ...changes,
  };
}

/** A browser's notifications, with the permission that the user gives. */
export class FakeNotification {
  static permission: NotificationPermission = "default";
  static answer: NotificationPermission = "granted";
  static shown: FakeNotification[] = [];
  onclick: (() => void) | null = null;

  constructor(
    readonly title: string,
    readonly options: NotificationOptions = {},
  ) {
    FakeNotification.shown.push(this);
  }

  close() {
    FakeNotification.shown = FakeNotification.shown.filter((other) => other !== this);
  }

  static requestPermission(): Promise<NotificationPermission> {
    FakeNotification.permission = FakeNotification.answer;
    return Promise.resolve(FakeNotification.permission);
  }

  static reset(permission: NotificationPermission = "default", answer: NotificationPermission = "granted") {
    Object.assign(FakeNotification, { permission, answer, shown: [] });
  }
}
