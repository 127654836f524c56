/** Browser storage for pages. It does nothing if the browser forbids storage or the storage is full. */

interface PageStorage {
  read: <T>(place: string) => T | null;
  keep: (place: string, value: unknown) => void;
  forget: (place: string) => void;
}

function createStorage(storage: () => Storage): PageStorage {
  return {
    read<T>(place: string) {
      try {
        const text = storage().getItem(place);
        return text === null ? null : (JSON.parse(text) as T);
      } catch {
        // The browser forbids storage.
        return null;
      }
    },
    keep(place, value) {
      try {
        storage().setItem(place, JSON.stringify(value));
      } catch {
        // Forbidden or full: what was typed lives as long as the page.
      }
    },
    forget(place) {
      try {
        storage().removeItem(place);
      } catch {
        // The browser forbids storage.
      }
    },
  };
}

/** Storage until the tab is closed. */
export const tabStorage = createStorage(() => sessionStorage);
/** Storage until the value is removed. */
export const browserStorage = createStorage(() => localStorage);
