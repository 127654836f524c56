import { notifications } from "@mantine/notifications";
import { cleanup, configure } from "@testing-library/react";
import { afterEach, vi } from "vitest";
import { workFaster } from "./faster";

afterEach(() => {
  cleanup();
  notifications.clean();
  localStorage.clear();
  sessionStorage.clear();
});

// On a busy machine a page takes longer to appear than the default timeout of one second.
configure({ asyncUtilTimeout: 50_000 });

workFaster();

// jsdom lacks browser features that Mantine needs.
window.matchMedia ??= (query: string) => ({
  matches: false,
  media: query,
  onchange: null,
  addListener: vi.fn(),
  removeListener: vi.fn(),
  addEventListener: vi.fn(),
  removeEventListener: vi.fn(),
  dispatchEvent: vi.fn(),
});

class QuietObserver {
  observe() {}
  unobserve() {}
  disconnect() {}
}
window.ResizeObserver ??= QuietObserver as unknown as typeof ResizeObserver;
window.IntersectionObserver ??= QuietObserver as unknown as typeof IntersectionObserver;
window.HTMLElement.prototype.scrollIntoView ??= vi.fn();
window.scrollTo = vi.fn();
if (!("fonts" in document)) Object.defineProperty(document, "fonts", { value: new EventTarget() });

// In jsdom, only a FileReader can read files.
Blob.prototype.text ??= function text(this: Blob) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error ?? new Error("The file cannot be read."));
    reader.readAsText(this);
  });
};
