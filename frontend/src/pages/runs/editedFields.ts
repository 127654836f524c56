/** Fields of a run that its row can edit. */
export const EDITED_FIELDS = ["name", "tags", "notes"] as const;
export type EditedField = (typeof EDITED_FIELDS)[number];

/** Return true for the id of a column that can be edited. */
export const isEditedField = (id: string | undefined): id is EditedField =>
  EDITED_FIELDS.some((field) => field === id);
