/** What the browser keeps for a page: nothing where it forbids storage, no more where it is full. */

interface Keeper {
  read: <T>(place: string) => T | null;
  keep: (place: string, value: unknown) => void;
  forget: (place: string) => void;
}

function keeper(storage: () => Storage): Keeper {
  return {
    read<T>(place: string) {
      try {
        const text = storage().getItem(place);
        return text === null ? null : (JSON.parse(text) as T);
      } catch {
        // Forbidden: nothing was kept.
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
        // Forbidden: nothing was kept.
      }
    },
  };
}

/** Until the tab is closed. */
export const inTab = keeper(() => sessionStorage);
/** Until it is forgotten. */
export const inBrowser = keeper(() => localStorage);
