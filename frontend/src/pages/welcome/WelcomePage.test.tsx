import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it } from "vitest";
import { renderPage } from "@/testing/render";
import { refusal, serve } from "@/testing/server";
import WelcomePage from "./WelcomePage";

beforeEach(() => void (window.location.hash = "#secret"));

const open = (answers: Parameters<typeof serve>[0]) => {
  const server = serve(answers);
  renderPage(<WelcomePage />, {
    at: "/welcome",
    path: "/welcome",
    routes: [{ path: "/", element: <p>Runs</p> }],
  });
  return server;
};

it("lets an invited person choose a password", async () => {
  const server = open({
    "POST /session/link": { purpose: "invite", name: "Bea", email: "bea@example.org" },
    "POST /session/password": { required: true, signed_in: true },
  });
  expect(await screen.findByText(/^Hello Bea/)).toBeTruthy();
  await userEvent.type(screen.getByLabelText(/^Password/, { selector: "input" }), "a long password{Enter}");
  expect(await screen.findByText("Runs")).toBeTruthy();
  expect(server.of("POST /session/password")[0]?.body).toEqual({
    secret: "secret",
    password: "a long password",
  });
});

it("asks the first administrator for name and e-mail address", async () => {
  open({ "POST /session/link": { purpose: "first", name: null, email: null } });
  expect(await screen.findByRole("heading", { name: "Create the first account" })).toBeTruthy();
  expect(screen.getByRole("textbox", { name: "Name" })).toBeTruthy();
  expect(screen.getByRole("textbox", { name: "E-mail address" })).toBeTruthy();
});

it("says that a used link no longer works", async () => {
  open({ "POST /session/link": () => refusal(410, "This link was used already.") });
  expect(await screen.findByText("This link was used already.")).toBeTruthy();
});
