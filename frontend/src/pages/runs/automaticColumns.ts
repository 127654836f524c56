/** Columns that are shown automatically: the settings that differ between the listed runs. */

import { hasColumn } from "./columnSpecs";

/** Spec of the place before which the automatic columns are shown. */
export const DIFFERING = "differing";
export const MAX_AUTOMATIC = 4;
export const CONFIG_PREFIX = "config.";
/** Marks an automatic column that the user has hidden. */
const HIDDEN_PREFIX = "-";
/** They come first. The others follow in the order of the launch form. */
const LEADING_FIELDS = ["seed", "learning_rate"];
/** Fields of this group determine how long and where a run trains. */
const RUN_GROUP = "Run";

interface Setting {
  field: string;
  distinct: number;
  runs: number;
}

/** Return the settings to show: those that differ, the ones that all runs have first. */
export function automaticSettings(
  settings: readonly Setting[],
  groupOf: (field: string) => string | undefined,
): string[] {
  const most = Math.max(0, ...settings.map(({ runs }) => runs));
  const rank = ({ field, runs }: Setting) => {
    const leading = LEADING_FIELDS.indexOf(field);
    return (runs < most ? LEADING_FIELDS.length + 1 : 0) + (leading < 0 ? LEADING_FIELDS.length : leading);
  };
  return settings
    .filter(({ field, distinct }) => distinct > 1 && (groupOf(field) !== RUN_GROUP || field === "seed"))
    .toSorted((a, b) => rank(a) - rank(b))
    .slice(0, MAX_AUTOMATIC)
    .map(({ field }) => field);
}

/** Return the columns that these settings add to the chosen ones. */
export function automaticColumns(chosen: readonly string[], settings: readonly string[]): string[] {
  if (!hasColumn(chosen, DIFFERING)) return [];
  return settings
    .map((field) => CONFIG_PREFIX + field)
    .filter((id) => !hasColumn(chosen, id) && !hasColumn(chosen, HIDDEN_PREFIX + id));
}

/** Insert automatic columns into the chosen ones. */
export function withAutomatic(chosen: readonly string[], automatic: readonly string[]): string[] {
  return chosen.flatMap((text) => (text === DIFFERING ? [...automatic, text] : [text]));
}

/**
 * Return the choice after an edit of all columns. Automatic columns stay automatic if they are in their place.
 * Moved and resized ones become chosen columns, and removed ones are marked as hidden.
 */
export function withoutAutomatic(edited: readonly string[], automatic: readonly string[]): string[] {
  const place = edited.indexOf(DIFFERING);
  if (place < 0) return edited.filter((text) => !automatic.includes(text));
  const hidden = automatic.filter((id) => !hasColumn(edited, id)).map((id) => HIDDEN_PREFIX + id);
  const left = automatic.filter((id) => hasColumn(edited, id));
  let first = place;
  while (left.length > 0 && edited[first - 1] === left.at(-1)) {
    left.pop();
    first -= 1;
  }
  const chosen = [...edited.slice(0, first), ...edited.slice(place), ...hidden];
  return chosen.filter((text) => !text.startsWith(HIDDEN_PREFIX) || !hasColumn(chosen, text.slice(1)));
}
