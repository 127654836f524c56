import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { aChannel, aDelivery, alertPage, anAlert, FakeNotification, RULES } from "@/testing/alerts";
import { renderPage } from "@/testing/render";
import { done, refusal, serve, type Answer } from "@/testing/server";
import AlertsPage from "./AlertsPage";

const TIME = "2026-01-01T11:00:00Z";

function open(answers: Record<string, Answer> = {}, at = "/alerts") {
  const server = serve({
    "GET /alerts": alertPage([]),
    "GET /alert-rules": RULES,
    "GET /score-rules": [],
    "GET /alert-channels": [],
    "GET /alert-deliveries": { items: [], next_cursor: null },
    ...answers,
  });
  return { ...renderPage(<AlertsPage />, { at, path: "/alerts/:tab?" }), server };
}

beforeEach(() => {
  FakeNotification.reset();
  vi.stubGlobal("Notification", FakeNotification);
});

describe("the list of alerts", () => {
  it("links to runs and studies and shows when a condition ended", async () => {
    open({
      "GET /alerts": alertPage([
        anAlert(3, { title: "Cart failed", level: "error" }),
        anAlert(2, { title: "Rates has a verdict", run_id: null, study_id: 5, read_at: TIME }),
        anAlert(1, { title: "The disk is almost full", run_id: null, ended_at: TIME }),
      ]),
    });
    expect((await screen.findByRole("link", { name: "Cart failed" })).getAttribute("href")).toBe("/runs/3");
    expect(screen.getByRole("link", { name: "Rates has a verdict" }).getAttribute("href")).toBe("/studies/5");
    const [failed, verdict, disk] = within(screen.getByRole("list", { name: "Alerts" })).getAllByRole(
      "listitem",
    );
    expect(within(failed as HTMLElement).getByRole("img", { name: "Error" })).toBeTruthy();
    expect(within(verdict as HTMLElement).queryByRole("button")).toBeNull();
    expect(disk?.textContent).toContain("ended");
  });

  it("marks one alert or all shown ones as read", async () => {
    let page = alertPage([anAlert(2), anAlert(1)]);
    const { server } = open({
      "GET /alerts": () => page,
      "POST /alerts/read": () => {
        page = alertPage([anAlert(2), anAlert(1, { read_at: TIME })]);
        return { unread: 1 };
      },
    });
    await userEvent.click(await screen.findByRole("button", { name: "Mark as read: Run 1 finished" }));
    await waitFor(() => expect(screen.getAllByRole("button", { name: /^Mark as read/ })).toHaveLength(1));
    await userEvent.click(screen.getByRole("button", { name: "Mark all as read" }));
    expect(server.of("POST /alerts/read").map(({ body }) => body)).toEqual([{ ids: [1] }, { up_to: 2 }]);
  });

  it("is filtered by kind and by what is unread", async () => {
    const { server } = open({}, "/alerts?kind=run_stalled");
    await screen.findByText("No matching alerts");
    expect(server.of("GET /alerts").at(-1)?.query.get("kind")).toBe("run_stalled");
    await userEvent.click(screen.getByRole("switch", { name: "Only unread" }));
    await waitFor(() => expect(server.of("GET /alerts").at(-1)?.query.get("unread")).toBe("true"));
  });

  it("is explained if it is empty", async () => {
    open();
    expect(await screen.findByText("No alerts yet")).toBeTruthy();
  });
});

describe("the rules", () => {
  it("can be switched off, and have thresholds", async () => {
    const { server } = open(
      {
        "PATCH /alert-rules/run_finished": RULES[0] as object,
        "PATCH /alert-rules/run_stalled": RULES[1] as object,
      },
      "/alerts/rules",
    );
    await userEvent.click(await screen.findByRole("switch", { name: "Run finished" }));
    const threshold = screen.getByRole("textbox", { name: "Run stalled: minutes without a new point" });
    await userEvent.clear(threshold);
    await userEvent.type(threshold, "30{Enter}");
    await waitFor(() =>
      expect(server.asked.filter(({ method }) => method === "PATCH").map(({ body }) => body)).toEqual([
        { enabled: false },
        { threshold: 30 },
      ]),
    );
  });

  it("restore a threshold that is not a number", async () => {
    const { server } = open({}, "/alerts/rules");
    const threshold = await screen.findByRole<HTMLInputElement>("textbox", { name: /^Run stalled/ });
    await userEvent.clear(threshold);
    await userEvent.tab();
    await waitFor(() => expect(threshold.value).toBe("10"));
    expect(server.asked.filter(({ method }) => method === "PATCH")).toEqual([]);
  });

  it("watch scores of an environment", async () => {
    const rule = { id: 4, project: "Main", env: "ALE/Pong-v5", score: 18, created_at: TIME, may_edit: true };
    const { server } = open(
      { "GET /score-rules": [rule], "POST /score-rules": rule, "DELETE /score-rules/4": done },
      "/alerts/rules",
    );
    await userEvent.click(await screen.findByRole("button", { name: "Remove 18 in ALE/Pong-v5 of Main" }));
    await userEvent.type(screen.getByLabelText("Score"), "20");
    await userEvent.click(screen.getByRole("button", { name: "Add score" }));
    await waitFor(() =>
      expect(server.of("POST /score-rules").map(({ body }) => body)).toEqual([
        { score: 20, env: null, project: "Main" },
      ]),
    );
    expect(server.of("DELETE /score-rules/4")).toHaveLength(1);
  });
});

describe("the channels", () => {
  it("are added with a secret that is shown once", async () => {
    const added = { ...aChannel(1), secret: "5ec2e7" };
    const { server } = open({ "POST /alert-channels": added }, "/alerts/channels");
    await userEvent.click(await screen.findByRole("button", { name: "Add channel" }));
    const dialog = await screen.findByRole("dialog");
    await userEvent.type(within(dialog).getByLabelText("Name"), "Team");
    await userEvent.type(within(dialog).getByLabelText("Webhook address"), "https://example.org/hook");
    await userEvent.click(within(dialog).getByRole("button", { name: "Add channel" }));
    expect((await within(dialog).findByLabelText<HTMLInputElement>("Secret")).value).toBe("5ec2e7");
    expect(server.of("POST /alert-channels").map(({ body }) => body)).toEqual([
      { kind: "webhook", name: "Team", url: "https://example.org/hook", kinds: null },
    ]);
    await userEvent.click(within(dialog).getByRole("button", { name: "Done" }));
    expect(screen.queryByText("5ec2e7")).toBeNull();
  });

  it("may be services of Apprise, which have no secret", async () => {
    const added = { ...aChannel(1, { kind: "apprise" }), secret: null };
    const { server } = open({ "POST /alert-channels": added }, "/alerts/channels");
    await userEvent.click(await screen.findByRole("button", { name: "Add channel" }));
    const dialog = await screen.findByRole("dialog");
    await userEvent.selectOptions(within(dialog).getByLabelText("Kind"), "apprise");
    await userEvent.type(within(dialog).getByLabelText("Name"), "Team");
    await userEvent.type(within(dialog).getByLabelText("Apprise URL"), "slack://a/b/c");
    await userEvent.click(within(dialog).getByRole("button", { name: "Add channel" }));
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
    expect(server.of("POST /alert-channels").map(({ body }) => body)).toEqual([
      { kind: "apprise", name: "Team", url: "slack://a/b/c", kinds: null },
    ]);
  });

  it("show next to the field why an address is refused", async () => {
    const errors = [{ field: "url", message: "must be an address" }];
    open({ "POST /alert-channels": () => refusal(422, "Invalid", errors) }, "/alerts/channels");
    await userEvent.click(await screen.findByRole("button", { name: "Add channel" }));
    const dialog = await screen.findByRole("dialog");
    await userEvent.type(within(dialog).getByLabelText("Name"), "Team");
    await userEvent.type(within(dialog).getByLabelText("Webhook address"), "x");
    await userEvent.click(within(dialog).getByRole("button", { name: "Add channel" }));
    expect(await within(dialog).findByText("Must be an address.")).toBeTruthy();
  });

  it("are tested, switched off and removed, and failed deliveries are sent again", async () => {
    const failed = aDelivery(9, {
      state: "failed",
      tries: 10,
      status: 500,
      error: "The response had status 500.",
    });
    const { server } = open(
      {
        "GET /alert-channels": [
          aChannel(1, { problem: "The response had status 500.", kinds: ["run_finished"] }),
        ],
        "GET /alert-deliveries": { items: [failed], next_cursor: null },
        "POST /alert-channels/1/test": failed,
        "POST /alert-deliveries/9/redeliver": failed,
        "PATCH /alert-channels/1": aChannel(1, { enabled: false }),
        "DELETE /alert-channels/1": done,
      },
      "/alerts/channels",
    );
    const channels = await screen.findByRole("region", { name: "Channels" });
    expect(await within(channels).findByText(/https:\/\/example.org\/… · Run finished/)).toBeTruthy();
    expect(within(channels).getByText("The response had status 500.")).toBeTruthy();
    await userEvent.click(screen.getByRole("button", { name: "Send a test to Team" }));
    expect(await screen.findByText("after 10 tries")).toBeTruthy();
    await userEvent.click(screen.getByRole("button", { name: "Send again: Run 1 finished to Team" }));
    await userEvent.click(screen.getByRole("switch", { name: "Team" }));
    await userEvent.click(screen.getByRole("button", { name: "Remove Team" }));
    await userEvent.click(await screen.findByRole("button", { name: "Remove channel" }));
    await waitFor(() => expect(server.of("DELETE /alert-channels/1")).toHaveLength(1));
    const changes = server.asked.filter(({ method }) => method !== "GET");
    expect(changes.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "POST /alert-channels/1/test",
      "POST /alert-deliveries/9/redeliver",
      "PATCH /alert-channels/1",
      "DELETE /alert-channels/1",
    ]);
  });
});

describe("notifications of this browser", () => {
  it("start when the user allows them", async () => {
    open({}, "/alerts/channels");
    const start = await screen.findByRole<HTMLButtonElement>("button", { name: "Notify in this browser" });
    await waitFor(() => expect(start.disabled).toBe(false));
    await userEvent.click(start);
    await userEvent.click(await screen.findByRole("button", { name: "Stop notifications" }));
    expect(await screen.findByRole("button", { name: "Notify in this browser" })).toBeTruthy();
  });

  it("are explained if the browser blocks them", async () => {
    FakeNotification.reset("denied");
    open({}, "/alerts/channels");
    expect(await screen.findByText(/This browser blocks notifications/)).toBeTruthy();
    expect(screen.queryByRole("button", { name: "Notify in this browser" })).toBeNull();
  });
});
