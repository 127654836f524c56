import { useMutation } from "@tanstack/react-query";
import { MAX_RUNS } from "@/api/comparisons";
import { useCloneRun, useForkRun } from "@/api/runs";
import type { ComparedRun, Verdict } from "@/api/types";
import { plural } from "@/ui/format";
import { notifyDone, notifyProblem } from "@/ui/notify";

export const MORE_SEEDS = 3;

export type Standing = Verdict["standings"][number];

/** Return the runs of a group. */
export const membersOf = ({ run_ids }: Standing, known: readonly ComparedRun[]) =>
  known.filter(({ id }) => run_ids.includes(id));

/** Launch a group's settings with new seeds. Pass the new runs that fit into the comparison to `onMade`. */
export function useMoreSeeds(
  known: readonly ComparedRun[],
  room: number,
  onMade: (made: number[], group: Standing) => void,
) {
  const launch = useSeedOf();
  return useMutation({
    mutationFn: async (group: Standing) => {
      const members = membersOf(group, known);
      const [first] = members;
      if (!first) return [];
      const last = Math.max(...members.map(({ config }) => Number(config["seed"] ?? 0)));
      const seeds = Array.from({ length: MORE_SEEDS }, (_, place) => last + 1 + place);
      const answers = await Promise.allSettled(seeds.map((seed) => launch(first, seed)));
      // Refused requests have already shown a notification.
      return answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value.id] : []));
    },
    onSuccess: (made, group) => {
      if (made.length === 0) return;
      onMade(made.slice(0, room), group);
      const launched = `${plural(made.length, "run")} of ${group.name} launched: ${numbered(made)}`;
      const beyond = made.slice(room);
      notifyDone(
        beyond.length === 0
          ? launched
          : `${launched}. A comparison has at most ${MAX_RUNS} runs, so it does not include ${numbered(beyond)}`,
      );
    },
  });
}

const numbered = (ids: number[]) => ids.map((id) => `#${id}`).join(", ");

/** Launch a run with another seed from the same start. A fork uses the same checkpoint. */
function useSeedOf() {
  const clone = useCloneRun();
  const fork = useForkRun();
  return ({ id, name, parent, config }: ComparedRun, seed: number) => {
    if (!parent?.run_id || !parent.checkpoint_id) return clone.mutateAsync({ id, name, overrides: { seed } });
    const { run_id, checkpoint_id } = parent;
    const forked = fork.mutateAsync({ id: run_id, checkpoint_id, name, overrides: { ...config, seed } });
    forked.catch(notifyProblem);
    return forked;
  };
}
