import { act, screen } from "@testing-library/react";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { alertPage, anAlert, FakeNotification } from "@/testing/alerts";
import { renderPage } from "@/testing/render";
import { serve } from "@/testing/server";
import { fakeStreams, stream } from "@/testing/stream";
import { startNotifications } from "@/ui/browserNotifications";
import { AlertBell } from "./AlertBell";

beforeEach(() => {
  fakeStreams();
  FakeNotification.reset();
  vi.stubGlobal("Notification", FakeNotification);
});

const open = (answers: object) => {
  const server = serve({ "GET /alerts": answers });
  const page = renderPage(<AlertBell />, {
    live: true,
    routes: [{ path: "/runs/:id", element: <p>The run</p> }],
  });
  return { ...page, server };
};

describe("the bell", () => {
  it("counts unread alerts and leads to them", async () => {
    open(alertPage([anAlert(1)], { unread: 120 }));
    const bell = await screen.findByRole("link", { name: "Alerts, 120 unread" });
    expect(bell.getAttribute("href")).toBe("/alerts");
    expect(bell.textContent).toBe("99+");
  });

  it("has no number without unread alerts", async () => {
    const { server } = open(alertPage([]));
    await vi.waitFor(() => expect(server.of("GET /alerts")).toHaveLength(1));
    expect(screen.getByRole("link", { name: "Alerts" }).textContent).toBe("");
  });

  it("shows an alert that arrives, also in a hidden tab, as a notification that opens the run", async () => {
    let page = alertPage([]);
    open(() => page);
    await startNotifications(0);
    FakeNotification.shown = [];
    vi.spyOn(document, "visibilityState", "get").mockReturnValue("hidden");
    page = alertPage([anAlert(1)]);
    act(() => stream().say("alerts.changed", "{}"));
    await screen.findByRole("link", { name: "Alerts, 1 unread" });
    const [notification] = FakeNotification.shown;
    expect(notification?.title).toBe("Run 1 finished");
    act(() => notification?.onclick?.());
    expect(await screen.findByText("The run")).toBeTruthy();
  });
});
