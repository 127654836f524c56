import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { studyPreviewQuery } from "@/api/studies";
import type { StudyPreview, StudySpecification } from "@/api/types";

export interface StudyCost {
  preview: StudyPreview | undefined;
  counting: boolean;
  /** Why the study cannot start, if the server has said so. */
  refused: string | undefined;
  confirmed: boolean;
  confirm: (confirmed: boolean) => void;
  /** The total that the user has confirmed, or null if none is required. */
  confirmedSteps: number | null;
  /** Whether the study may start now. */
  ready: boolean;
}

const NO_STUDY: StudySpecification = { name: "-" };

/** The cost of the study that the form describes, and its confirmation; null for a single run. */
export function useStudyCost(study: StudySpecification | null): StudyCost | null {
  const [settled] = useDebouncedValue(study && JSON.stringify(study), 400, { leading: true });
  const preview = useQuery({
    ...studyPreviewQuery(settled === null ? NO_STUDY : (JSON.parse(settled) as StudySpecification)),
    enabled: settled !== null && study !== null,
    // The button keeps its state while the runs are counted again, so that a press is not lost.
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
    // A study that the server cannot read is sent, to show its errors beside the fields.
    ready: error ? true : data !== undefined && !data.refused && (!data.confirm || confirmed),
  };
}
