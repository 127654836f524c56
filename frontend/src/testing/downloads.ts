import { vi } from "vitest";

interface Download {
  name: string;
  text: () => Promise<string>;
}

/** Return the files that pages download from now on. */
export function downloads(): Download[] {
  const saved: Download[] = [];
  const blobs = new Map<string, Blob>();
  // jsdom supports no blob URLs and follows no links.
  URL.createObjectURL = (content: Blob) => {
    const address = `blob:${blobs.size}`;
    blobs.set(address, content);
    return address;
  };
  URL.revokeObjectURL = () => undefined;
  vi.spyOn(HTMLAnchorElement.prototype, "click").mockImplementation(function (this: HTMLAnchorElement) {
    const { download, href } = this;
    const content = blobs.get(href);
    saved.push({ name: download, text: () => (content ? textOf(content) : Promise.resolve(href)) });
  });
  return saved;
}

function textOf(content: Blob): Promise<string> {
  return new Promise((resolve) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.readAsText(content);
  });
}
