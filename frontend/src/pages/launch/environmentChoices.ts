import type { Environment } from "@/api/types";

interface Choice {
  value: string;
  label: string;
}

interface ChoiceGroup {
  group: string;
  items: Choice[];
}

const KINDS: Record<string, string> = { atari: "Atari games", vector: "Classic control" };

/** Environments under their titles, by kind; the id stays in the label, so that it can be searched too. */
export function environmentChoices(ids: readonly string[], known: readonly Environment[]): ChoiceGroup[] {
  const groups = new Map<string, Choice[]>();
  for (const id of ids) {
    const environment = known.find((candidate) => candidate.id === id);
    const group = KINDS[environment?.kind ?? ""] ?? "Environments";
    const label = environment ? `${environment.title} · ${id}` : id;
    groups.set(group, [...(groups.get(group) ?? []), { value: id, label }]);
  }
  return [...groups].map(([group, items]) => ({ group, items }));
}
