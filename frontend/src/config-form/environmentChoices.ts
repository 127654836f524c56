import type { Environment } from "@/api/types";

interface Choice {
  value: string;
  label: string;
  disabled?: boolean;
}

interface ChoiceGroup {
  group: string;
  items: Choice[];
}

/**
 * Return the environments that a method can learn, by group, then the others disabled with a reason.
 * The label contains the id so that it can be searched.
 */
export function environmentChoices(
  fitting: readonly string[],
  known: readonly Environment[],
  method: string,
): ChoiceGroup[] {
  const groups = new Map<string, Choice[]>();
  const add = (group: string, choice: Choice) => groups.set(group, [...(groups.get(group) ?? []), choice]);
  const label = ({ id, title }: Environment) => `${title} · ${id}`;
  for (const id of fitting) {
    const environment = known.find((candidate) => candidate.id === id);
    add(environment?.group ?? "Environments", { value: id, label: environment ? label(environment) : id });
  }
  for (const environment of known.filter(({ id }) => !fitting.includes(id))) {
    const group = `Not for ${method}: ${environment.unfit_because}`;
    add(group, { value: environment.id, label: label(environment), disabled: true });
  }
  return [...groups].map(([group, items]) => ({ group, items }));
}
