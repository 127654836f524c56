type Key = string | number;

/** A step of a patch. `splice` replaces items of a list, and `delete` removes a key of an object. */
export type Operation =
  ["set", Key[], unknown] | ["delete", Key[]] | ["splice", Key[], number, number, unknown[]];

/** Return a copy of a document with a patch. Parts without a change keep their identity. */
export const applyPatch = (document: unknown, patch: readonly Operation[]): unknown =>
  patch.reduce(applyOperation, document);

function applyOperation(document: unknown, operation: Operation): unknown {
  switch (operation[0]) {
    case "set":
      return changeAt(document, operation[1], () => operation[2]);
    case "delete": {
      const last = operation[1].at(-1);
      return changeAt(document, operation[1].slice(0, -1), (parent) =>
        Object.fromEntries(Object.entries(parent as object).filter(([key]) => key !== last)),
      );
    }
    case "splice": {
      const [, path, start, count, items] = operation;
      return changeAt(document, path, (list) => (list as unknown[]).toSpliced(start, count, ...items));
    }
  }
}

function changeAt(
  value: unknown,
  [key, ...rest]: readonly Key[],
  change: (part: unknown) => unknown,
): unknown {
  if (key === undefined) return change(value);
  if (Array.isArray(value)) return value.with(Number(key), changeAt(value[Number(key)], rest, change));
  const parent = value as Record<Key, unknown>;
  return { ...parent, [key]: changeAt(parent[key], rest, change) };
}
