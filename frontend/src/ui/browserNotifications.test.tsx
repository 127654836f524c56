import { beforeEach, describe, expect, it, vi } from "vitest";
import { anAlert, FakeNotification } from "@/testing/alerts";
import {
  notificationState,
  pageOfAlert,
  showNewAlerts,
  startNotifications,
  stopNotifications,
} from "./browserNotifications";

const titles = () => FakeNotification.shown.map(({ title }) => title);
const ids = (...numbers: number[]) => numbers.map((id) => anAlert(id));

describe("notifications of the browser", () => {
  beforeEach(() => {
    FakeNotification.reset();
    localStorage.clear();
    vi.stubGlobal("Notification", FakeNotification);
    vi.spyOn(window, "focus").mockReturnValue();
  });

  it("are off until the user turns them on", async () => {
    const open = vi.fn();
    expect(notificationState()).toBe("off");
    showNewAlerts(ids(7), open);
    expect(titles()).toEqual([]);
    expect(await startNotifications(7)).toBe("on");
    expect(titles()).toEqual(["Arcadia shows its alerts here"]);
    stopNotifications();
    expect(notificationState()).toBe("off");
  });

  it("show each new alert once and open its page", async () => {
    const open = vi.fn();
    await startNotifications(7);
    FakeNotification.shown = [];
    showNewAlerts(ids(9, 8, 7), open);
    showNewAlerts(ids(9, 8, 7), open);
    expect(titles()).toEqual(["Run 8 finished", "Run 9 finished"]);
    expect(FakeNotification.shown.map(({ options }) => options.tag)).toEqual([
      "arcadia-alert-8",
      "arcadia-alert-9",
    ]);
    FakeNotification.shown[1]?.onclick?.();
    expect(open.mock.calls).toEqual([["/runs/9"]]);
    expect(titles()).toEqual(["Run 8 finished"]);
  });

  it("count alerts if there are many", async () => {
    const open = vi.fn();
    await startNotifications(0);
    FakeNotification.shown = [];
    showNewAlerts(ids(5, 4, 3, 2, 1), open);
    expect(titles()).toEqual(["Run 3 finished", "Run 4 finished", "Run 5 finished", "2 more alerts"]);
  });

  it("stay off if the user denies them", async () => {
    FakeNotification.reset("default", "denied");
    expect(await startNotifications(0)).toBe("denied");
    expect(titles()).toEqual([]);
  });

  it("are not offered if the browser cannot show them", async () => {
    vi.stubGlobal("Notification", undefined);
    expect(notificationState()).toBe("unsupported");
    class OnlyInServiceWorkers extends FakeNotification {
      constructor() {
        super("");
        throw new TypeError("Illegal constructor");
      }
    }
    vi.stubGlobal("Notification", OnlyInServiceWorkers);
    expect(await startNotifications(0)).toBe("unsupported");
  });
});

describe("the page of an alert", () => {
  it("is that of its run, its study, or the list", () => {
    expect(pageOfAlert(anAlert(1, { run_id: 3 }))).toBe("/runs/3");
    expect(pageOfAlert(anAlert(1, { run_id: null, study_id: 4 }))).toBe("/studies/4");
    expect(pageOfAlert(anAlert(1, { run_id: null }))).toBe("/alerts");
  });
});
