import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { CodeMissingError, importPage } from "./loadCode";

const broken = () => Promise.reject(new TypeError("Failed to fetch dynamically imported module"));

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("fetch", () => Promise.resolve(new Response("{}")));
  sessionStorage.clear();
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it("retries after an error without a reload", async () => {
  const load = vi
    .fn()
    .mockImplementationOnce(broken)
    .mockImplementationOnce(broken)
    .mockResolvedValue("page");
  const reload = vi.fn();
  const page = importPage("runs", load, reload);
  await vi.runAllTimersAsync();
  expect(await page).toBe("page");
  expect(load).toHaveBeenCalledTimes(3);
  expect(reload).not.toHaveBeenCalled();
});

it("reloads once, and then reports that the code is missing", async () => {
  const reload = vi.fn();
  void importPage("runs", broken, reload);
  await vi.runAllTimersAsync();
  expect(reload).toHaveBeenCalledTimes(1);
  const reloaded = expect(importPage("runs", broken, reload)).rejects.toThrow(CodeMissingError);
  await vi.runAllTimersAsync();
  await reloaded;
  expect(reload).toHaveBeenCalledTimes(1);
});

it("may reload again once the page could be loaded", async () => {
  const reload = vi.fn();
  void importPage("runs", broken, reload);
  await vi.runAllTimersAsync();
  await importPage("runs", () => Promise.resolve("page"), reload);
  void importPage("runs", broken, reload);
  await vi.runAllTimersAsync();
  expect(reload).toHaveBeenCalledTimes(2);
});

it("keeps the page while the server is unreachable", async () => {
  vi.stubGlobal("fetch", () => Promise.reject(new TypeError("Failed to fetch")));
  const reload = vi.fn();
  const missing = expect(importPage("runs", broken, reload)).rejects.toThrow(CodeMissingError);
  await vi.runAllTimersAsync();
  await missing;
  expect(reload).not.toHaveBeenCalled();
});

it("loads pages without storage, and never reloads because that could repeat", async () => {
  const denied = () => {
    throw new DOMException("Denied.", "SecurityError");
  };
  vi.stubGlobal("sessionStorage", { getItem: denied, setItem: denied, removeItem: denied });
  const reload = vi.fn();
  expect(await importPage("embed", () => Promise.resolve("page"), reload)).toBe("page");
  const missing = expect(importPage("embed", broken, reload)).rejects.toThrow(CodeMissingError);
  await vi.runAllTimersAsync();
  await missing;
  expect(reload).not.toHaveBeenCalled();
});
