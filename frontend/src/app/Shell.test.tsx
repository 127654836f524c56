import { act, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { Link, Outlet } from "react-router";
import { aProjectSummary } from "@/testing/projects";
import { renderPage } from "@/testing/render";
import { aRun } from "@/testing/runs";
import { done, refusal, serve } from "@/testing/server";
import { fakeStreams, stream } from "@/testing/stream";
import { useQuery } from "@tanstack/react-query";
import { runQuery } from "@/api/runs";
import { ErrorPage } from "./ErrorPage";
import NotFoundPage from "./NotFoundPage";
import { Shell } from "./Shell";

beforeEach(fakeStreams);

function RunName() {
  const run = useQuery(runQuery(1));
  return <p>{run.data?.name ?? run.error?.message}</p>;
}

function Broken(): never {
  throw new Error("The chart has no axis.");
}

function open(answers: Record<string, object> = {}, at = "/") {
  const server = serve({ "GET /session": { required: false, signed_in: false }, ...answers });
  const page = renderPage(<Outlet />, {
    at,
    path: "/*",
    routes: [
      {
        Component: Shell,
        ErrorBoundary: ErrorPage,
        children: [
          {
            ErrorBoundary: ErrorPage,
            children: [
              { path: "/", element: <p>All runs</p> },
              { path: "/launch", element: <p>The form</p> },
              { path: "/workers", element: <p>All workers</p> },
              { path: "/compare", element: <Broken /> },
              { path: "/run", element: <RunName /> },
              { path: "/gone", element: <NotFoundPage /> },
            ],
          },
        ],
      },
    ],
  });
  return { ...page, server };
}

describe("a server that requires a token", () => {
  const token = () => screen.findByLabelText(/^Access token/, { selector: "input" });

  it("shows no page before the correct token", async () => {
    const session = { required: true, signed_in: false };
    const answers = {
      "GET /session": () => ({ ...session }),
      "POST /session": () => {
        session.signed_in = true;
        return session;
      },
    };
    const { server } = open(answers);
    await userEvent.type(await token(), " secret {Enter}");
    expect(await screen.findByText("All runs")).toBeTruthy();
    expect(server.of("POST /session").map(({ body }) => body)).toEqual([{ token: "secret" }]);
  });

  it("requests e-mail address and password once there are accounts", async () => {
    const session = { required: true, signed_in: false };
    const { server } = open({
      "GET /session": () => ({ ...session }),
      "GET /session/methods": { password: true, token: false },
      "POST /session": () => {
        session.signed_in = true;
        return session;
      },
    });
    await userEvent.type(await screen.findByLabelText(/^E-mail/), " ana@example.org ");
    await userEvent.type(screen.getByLabelText(/^Password/, { selector: "input" }), "secret words{Enter}");
    expect(await screen.findByText("All runs")).toBeTruthy();
    expect(server.of("POST /session")[0]?.body).toEqual({
      email: "ana@example.org",
      password: "secret words",
    });
  });

  it("says once why the sign-in at the provider failed", async () => {
    const reason = "The sign-in at the provider failed: your account is disabled. Try again.";
    document.cookie = `arcadia_sign_in_failure=${encodeURIComponent(reason)}; Path=/`;
    const answers = {
      "GET /session": { required: true, signed_in: false },
      "GET /session/methods": { password: true, token: false, openid: true },
    };
    const { unmount } = open(answers);
    expect((await screen.findByRole("alert")).textContent).toContain(reason);
    expect(screen.getByRole("link", { name: "Sign in at your provider" })).toBeTruthy();
    unmount();
    open(answers);
    await screen.findByRole("link", { name: "Sign in at your provider" });
    expect(screen.queryByRole("alert")).toBeNull();
  });

  it("says where the first account comes from if there is no other way in", async () => {
    open({
      "GET /session": { required: true, signed_in: false },
      "GET /session/methods": { password: false, token: false },
    });
    expect(await screen.findByText("arcadia up")).toBeTruthy();
  });

  it("shows next to the field that the token is wrong", async () => {
    open({
      "GET /session": { required: true, signed_in: false },
      "POST /session": () => refusal(401, "This is not the token."),
    });
    await userEvent.type(await token(), "guess{Enter}");
    expect(await screen.findByText("This is not the token.")).toBeTruthy();
    expect(screen.queryByText("All runs")).toBeNull();
  });

  it("does not send an empty token", async () => {
    open({ "GET /session": { required: true, signed_in: false } });
    await userEvent.type(await token(), "   ");
    expect(screen.getByText("Sign in").closest("button")?.disabled).toBe(true);
  });

  it("shows the sign-in page after signing out", async () => {
    const session = { required: true, signed_in: true };
    const { server } = open({
      "GET /session": () => ({ ...session }),
      "DELETE /session": () => {
        session.signed_in = false;
        return done();
      },
    });
    await userEvent.click(await screen.findByRole("button", { name: "Account" }));
    await userEvent.click(await screen.findByRole("menuitem", { name: "Sign out" }));
    await token();
    expect(server.of("DELETE /session")).toHaveLength(1);
  });

  it("shows the sign-in page when the session ends", async () => {
    const session = { required: true, signed_in: true };
    open(
      {
        "GET /session": () => ({ ...session }),
        "GET /runs/1": () => {
          session.signed_in = false;
          return refusal(401, "Sign in first.");
        },
      },
      "/run",
    );
    expect(await token()).toBeTruthy();
  });

  it("shows the sign-in page when another window signs out", async () => {
    const session = { required: true, signed_in: true };
    open({ "GET /session": () => ({ ...session }) });
    await screen.findByText("All runs");
    session.signed_in = false;
    act(() => stream().onerror?.());
    expect(await token()).toBeTruthy();
  });
});

describe("the header", () => {
  it("has no sign-out button if no token is required", async () => {
    open();
    await screen.findByText("All runs");
    expect(screen.queryByRole("button", { name: /^Account/ })).toBeNull();
  });

  it("links to the pages and marks the current one", async () => {
    open();
    await userEvent.click(await screen.findByText("Workers", { selector: "nav *" }));
    await screen.findByText("All workers");
    expect(screen.getByText("Workers", { selector: "nav *" }).getAttribute("aria-current")).toBe("page");
  });
});

describe("keys", () => {
  it("open pages and are listed on the sheet", async () => {
    open();
    await screen.findByText("All runs");
    await userEvent.keyboard("gw");
    await screen.findByText("All workers");
    await userEvent.keyboard("?");
    expect(await screen.findByText("Launch a run")).toBeTruthy();
    await userEvent.keyboard("{Escape}");
    await waitFor(() => expect(screen.queryByText("Launch a run")).toBeNull());
    await userEvent.keyboard("n");
    await screen.findByText("The form");
  });

  it("open the run list to search on a page without a search", async () => {
    open({}, "/workers");
    await screen.findByText("All workers");
    await userEvent.keyboard("/");
    await screen.findByText("All runs");
  });
});

describe("a page that fails", () => {
  beforeEach(() => {
    // React and the router log the error of the test.
    vi.spyOn(console, "error").mockReturnValue();
  });

  it("shows the error and keeps the navigation", async () => {
    open({}, "/compare");
    const alert = await screen.findByRole("alert");
    expect(alert.textContent).toContain("The chart has no axis.");
    await userEvent.click(screen.getByText("Workers", { selector: "nav *" }));
    await screen.findByText("All workers");
  });

  it("shows the status of a server error", async () => {
    const missing = new Response(null, { status: 503, statusText: "Away" });
    const loader = () => {
      throw missing;
    };
    const route = { path: "/page", loader, element: <p />, ErrorBoundary: ErrorPage };
    renderPage(<Link to="/page">Go</Link>, { routes: [route] });
    await userEvent.click(screen.getByText("Go"));
    expect(await screen.findByText("503 Away")).toBeTruthy();
  });

  it("is named if it does not exist", async () => {
    open({}, "/gone");
    await screen.findByText("Page not found");
    expect(document.title).toBe("Page not found · Arcadia");
  });
});

describe("the live stream", () => {
  it("refreshes the page when the server reports a change", async () => {
    let name = "first";
    open({ "GET /runs/1": () => aRun({ name }) }, "/run");
    await screen.findByText("first");
    name = "second";
    act(() => stream().say("run.changed", '{"run_id": 1}'));
    await screen.findByText("second");
  });

  it("shows that the server is unreachable until it is back", async () => {
    open();
    await screen.findByText("All runs");
    vi.useFakeTimers();
    act(() => stream().onopen?.());
    act(() => stream().onerror?.());
    expect(screen.queryByText(/Reconnecting/)).toBeNull();
    act(() => vi.advanceTimersByTime(1500));
    expect(screen.getByText(/Reconnecting/)).toBeTruthy();
    act(() => stream().onopen?.());
    expect(screen.queryByText(/Reconnecting/)).toBeNull();
    vi.useRealTimers();
  });
});

describe("a person without a role", () => {
  const account = {
    person: { id: 2, name: "Bo" },
    is_administrator: false,
    can_create_first: false,
    session_id: 1,
  };
  const none = { ...account, has_role: false, administrators: ["Ana", "Cy"] };
  const some = { ...account, has_role: true, administrators: [] };
  const session = { "GET /session": { required: true, signed_in: true } };

  it("sees who can give one on every page, and no button that is refused", async () => {
    open({ ...session, "GET /account": none, "GET /projects": [] }, "/workers");
    expect(await screen.findByRole("heading", { name: "You have no role yet" })).toBeTruthy();
    const names = screen.getByRole("list", { name: "Administrators" });
    expect(names.textContent).toBe("AnaCy");
    expect(screen.queryByText("All workers")).toBeNull();
    await waitFor(() => expect(screen.queryByRole("link", { name: "Launch run" })).toBeNull());
  });

  it("sees no button for editors while the roles are loading", async () => {
    let answer: (projects: object) => void = () => undefined;
    const projects = new Promise<object>((resolve) => (answer = resolve));
    open({ ...session, "GET /account": some, "GET /projects": () => projects });
    expect(await screen.findByText("All runs")).toBeTruthy();
    expect(screen.queryByRole("link", { name: "Launch run" })).toBeNull();
    answer([aProjectSummary("Main")]);
    expect(await screen.findByRole("link", { name: "Launch run" })).toBeTruthy();
  });

  it("learns that the last role has ended, and gets the pages back with a new one", async () => {
    let current: object = some;
    const { client } = open({ ...session, "GET /account": () => current });
    await screen.findByText("All runs");
    current = none;
    await act(() => client.invalidateQueries());
    expect(await screen.findByRole("heading", { name: "Your last role has ended" })).toBeTruthy();
    current = some;
    await act(() => client.invalidateQueries());
    expect(await screen.findByText("All runs")).toBeTruthy();
  });
});
