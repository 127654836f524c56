/** Versions of documents. A document is the JSON body of a GET response, which a query shows in whole or in part. */

import { replaceEqualDeep } from "@tanstack/react-query";

export interface Version {
  /** Address of the document with its query. */
  path: string;
  etag: string;
  /** The newest notice of the server before it read the document. */
  notice: string | null;
  body: unknown;
  /** Return what the query shows of the body. */
  read: (body: unknown) => unknown;
}

const isObject = (data: unknown): data is object => typeof data === "object" && data !== null;

/** The version that each object in the query cache shows. */
const versions = new WeakMap<object, Version>();

/** Longer paths cannot be watched. */
const MAX_PATH = 8000;

/** Remember the version of a response for its body. */
export function rememberVersion(body: unknown, { url, headers }: Response): void {
  const [, etag] = /"(.*)"/.exec(headers.get("ETag") ?? "") ?? [];
  if (!isObject(body) || !etag || !url) return;
  const { pathname, search } = new URL(url);
  const path = pathname + search;
  if (path.length > MAX_PATH) return;
  versions.set(body, { path, etag, notice: headers.get("Arcadia-Notice"), body, read: (data) => data });
}

/** Return a function that transforms a body and keeps its version. */
export const readAs =
  <Body, Data extends object>(read: (body: Body) => Data) =>
  (body: Body): Data => {
    const data = read(body);
    const version = versionOf(body);
    if (version) versions.set(data, { ...version, read: (other) => read(other as Body) });
    return data;
  };

export const versionOf = (data: unknown): Version | undefined =>
  isObject(data) ? versions.get(data) : undefined;

/** Return what a query shows of a version. */
export function readVersion(version: Version): unknown {
  const data = version.read(version.body);
  if (isObject(data)) versions.set(data, version);
  return data;
}

/** Return the parts of a query's data that are documents: the pages of a list, or the data itself. */
export const partsOf = (data: unknown): readonly unknown[] =>
  isObject(data) && "pages" in data && "pageParams" in data && Array.isArray(data.pages)
    ? data.pages
    : [data];

/** Replace equal parts of new data by those of the old data, and keep the versions. Changes of a page keep them too. */
export function shareVersions(old: unknown, data: unknown): unknown {
  const shared = replaceEqualDeep(old, data);
  const [before, after] = [partsOf(old), partsOf(data)];
  partsOf(shared).forEach((part, at) => {
    const version = versionOf(after[at]) ?? versionOf(before[at]);
    if (version && isObject(part)) versions.set(part, version);
  });
  return shared;
}
