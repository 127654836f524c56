import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { studyPreviewQuery } from "@/api/studies";
import type { StudyPreview, StudySpecification } from "@/api/types";

export interface StudyCost {
  preview: StudyPreview | undefined;
  counting: boolean;
  /** Why the server refuses the study. Undefined if it accepts it. */
  refused: string | undefined;
  confirmed: boolean;
  confirm: (confirmed: boolean) => void;
  /** The confirmed total of steps, or null if no confirmation is required. */
  confirmedSteps: number | null;
  /** True if the study can start. */
  ready: boolean;
}

const NO_STUDY: StudySpecification = { name: "-" };

/** Return the cost of the form's study and its confirmation, or null for a single run. */
export function useStudyCost(study: StudySpecification | null): StudyCost | null {
  const [settled] = useDebouncedValue(study && JSON.stringify(study), 400, { leading: true });
  const preview = useQuery({
    ...studyPreviewQuery(settled === null ? NO_STUDY : (JSON.parse(settled) as StudySpecification)),
    enabled: settled !== null && study !== null,
    // Keep the button's state while the runs are counted again, so that no click is lost.
    placeholderData: keepPreviousData,
  });
  const [steps, setSteps] = useState<number | null>(null);
  if (study === null) return null;
  const { data, error } = preview;
  const confirmed = steps !== null && steps === data?.steps;
  return {
    preview: error ? undefined : data,
    counting: preview.isFetching,
    refused: data?.refused ?? error?.message,
    confirmed,
    confirm: (given) => setSteps(given ? (data?.steps ?? null) : null),
    confirmedSteps: data?.confirm ? steps : null,
    // An invalid study can be sent, to show its errors next to the fields.
    ready: error ? true : data !== undefined && !data.refused && (!data.confirm || confirmed),
  };
}
