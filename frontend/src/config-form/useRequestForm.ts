import { type FormEvent, useState } from "react";
import { placeErrors } from "./serverErrors";

interface RequestFormOptions<Draft, Problems> {
  createDraft: () => Draft;
  /** Fields that errors of the server can name. */
  fields: readonly string[];
  /** Return what the server would refuse, by field. */
  findProblems: (draft: Draft) => Problems;
  send: (draft: Draft) => Promise<void>;
}

/** Draft of a form with its problems: those found before sending, and the server's, by field or general. */
export function useRequestForm<Draft, Problems extends object>(options: RequestFormOptions<Draft, Problems>) {
  const [draft, setDraft] = useState(options.createDraft);
  const [problems, setProblems] = useState<Partial<Problems>>({});
  const [refusals, setRefusals] = useState<string[]>([]);

  function update(change: Partial<Draft>) {
    setDraft((before) => ({ ...before, ...change }));
    setProblems({});
    setRefusals([]);
  }

  async function submit(event: FormEvent) {
    event.preventDefault();
    const invalid = options.findProblems(draft);
    setProblems(invalid);
    setRefusals([]);
    if (Object.keys(invalid).length > 0) return;
    try {
      await options.send(draft);
    } catch (error) {
      const { byField, general } = placeErrors(error, options.fields);
      setProblems(byField as Partial<Problems>);
      setRefusals(general);
    }
  }

  return { draft, problems, refusals, update, submit: (event: FormEvent) => void submit(event) };
}
