import { act, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { launch, openLaunch, preset, serveLaunching, type } from "@/testing/launching";
import LaunchPage from "./LaunchPage";

const open = (at: string) => openLaunch(<LaunchPage />, at);

beforeEach(() => {
  serveLaunching();
});

it("is restored after a reload until it is discarded or launched", async () => {
  const first = await open("/?preset=long");
  await type(/Total steps total_steps/, "77");
  await type(/Name/, "mine");
  first.unmount();
  const second = await open("/?preset=long");
  expect(screen.getByLabelText(/Total steps total_steps/)).toHaveProperty("value", "77");
  expect(screen.getByLabelText("Name")).toHaveProperty("value", "mine");
  await launch();
  await waitFor(() => expect(second.router.state.location.pathname).toBe("/runs/77"));
  second.unmount();
  await open("/?preset=long");
  expect(screen.getByLabelText(/Total steps total_steps/)).toHaveProperty("value", "9000");
  expect(screen.getByLabelText("Name")).toHaveProperty("value", "");
});

it("is restored by the back button", async () => {
  const page = await open("/?like=12");
  await type(/Total steps total_steps/, "77");
  await act(() => page.router.navigate("/"));
  expect(screen.getByLabelText(/Total steps total_steps/)).toHaveProperty("value", "2000");
  await act(() => page.router.navigate(-1));
  expect(await screen.findByDisplayValue("77")).toBeTruthy();
});

it("can be discarded, and does not affect another preset", async () => {
  const first = await open("/?preset=long");
  await type(/Total steps total_steps/, "77");
  first.unmount();
  const second = await open("/?preset=short");
  expect(screen.getByLabelText(/Total steps total_steps/)).toHaveProperty("value", "2000");
  await type(/Total steps total_steps/, "78");
  second.unmount();
  await open("/?preset=short");
  await type(/Name/, "mine");
  await userEvent.click(screen.getByText("Start over"));
  expect(screen.getByLabelText(/Total steps total_steps/)).toHaveProperty("value", "2000");
  expect(screen.getByLabelText("Name")).toHaveProperty("value", "");
  expect(screen.queryByText("Start over")).toBeNull();
});

it("follows a changed preset if nothing was typed", async () => {
  const first = await open("/?preset=short");
  first.unmount();
  serveLaunching({ "GET /presets": [preset("short", "A short one", 2000, { gamma: 0.9 })] });
  await open("/?preset=short");
  expect(await screen.findByLabelText(/Discount gamma/)).toHaveProperty("value", "0.9");
  expect(screen.queryByText(/Your draft was restored/)).toBeNull();
});

it("applies typed fields to a changed preset", async () => {
  const first = await open("/?preset=short");
  await type(/Total steps total_steps/, "7000");
  first.unmount();
  serveLaunching({ "GET /presets": [preset("short", "A short one", 2000, { gamma: 0.9 })] });
  await open("/?preset=short");
  expect(screen.getByLabelText(/Total steps total_steps/)).toHaveProperty("value", "7000");
  expect(await screen.findByLabelText(/Discount gamma/)).toHaveProperty("value", "0.9");
  expect(screen.getByText("Your draft was restored.")).toBeTruthy();
});

it("opens the launched run even if the browser forbids storage", async () => {
  const { router } = await open("/");
  const forbidden = () => {
    throw new DOMException("The operation is insecure.", "SecurityError");
  };
  for (const name of ["getItem", "setItem", "removeItem"] as const)
    vi.spyOn(Storage.prototype, name).mockImplementation(forbidden);
  await userEvent.click(screen.getByRole("button", { name: "Launch run" }));
  await waitFor(() => expect(router.state.location.pathname).toBe("/runs/77"));
  vi.restoreAllMocks();
});

describe("the name", () => {
  const named = () => screen.getByLabelText<HTMLInputElement>("Name").value;

  it("is not carried over to another run's form", async () => {
    const first = await open("/?preset=short");
    await userEvent.type(screen.getByLabelText("Name"), "warm-up");
    first.unmount();
    const second = await open("/?like=12");
    expect(named()).toBe("");
    second.unmount();
    await open("/?preset=short");
    expect(named()).toBe("warm-up");
    await userEvent.click(screen.getByRole("button", { name: "Start over" }));
    expect(named()).toBe("");
  });

  it("is kept if another preset or method is chosen", async () => {
    const first = await open("/?preset=short");
    await userEvent.type(screen.getByLabelText("Name"), "warm-up");
    await userEvent.click(screen.getByRole("radio", { name: /A long one/ }));
    await waitFor(() => expect(first.router.state.location.search).toBe("?preset=long"));
    expect(named()).toBe("warm-up");
    first.unmount();
    const second = await open("/?preset=short");
    expect(named()).toBe("");
    second.unmount();
    await open("/?preset=long");
    expect(named()).toBe("warm-up");
  });
});
