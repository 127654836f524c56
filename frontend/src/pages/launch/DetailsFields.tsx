import { TagsInput, Textarea, TextInput } from "@mantine/core";
import type { ExecutorName } from "@/api/types";
import type { FieldErrors } from "@/config-form/draft";
import classes from "@/config-form/fields.module.css";
import { ExecutorSelect } from "@/ui/ExecutorSelect";
import { ProjectSelect } from "@/ui/ProjectSelect";
import { normalizeTags } from "@/ui/tags";
import { inputId } from "@/config-form/useConfigDraft";
import type { TypedNeeds } from "./needs";
import { NeedsFields } from "./NeedsFields";

/** Name, tags, notes and priority of a run. They do not affect training. */
export interface Details {
  name: string;
  tags: string[];
  notes: string;
  priority: string;
}

export const NO_DETAILS: Details = { name: "", tags: [], notes: "", priority: "0" };
export const DETAIL_NAMES: readonly string[] = Object.keys(NO_DETAILS);

/** Where a run or a study goes, and who trains its runs. */
export interface Where {
  project: string;
  /** Null is the default of the project. */
  executor: ExecutorName | null;
  /** Options of the jobs on Slurm, one on each line. */
  jobOptions: string;
  needs: TypedNeeds;
  /** Whether runs with a higher priority may take its place. */
  isInterruptible: boolean;
}

interface DetailsFieldsProps {
  details: Details;
  where: Where;
  errors: FieldErrors;
  /** A study has a question, but no tags and no priority. */
  isStudy: boolean;
  onDetails: (changes: Partial<Details>) => void;
  onWhere: (changes: Partial<Where>) => void;
}

export function DetailsFields({ details, where, errors, isStudy, onDetails, onWhere }: DetailsFieldsProps) {
  return (
    <div className={classes.fields}>
      <TextInput
        id={inputId("name")}
        label="Name"
        description={isStudy ? "By default the varied fields." : "By default the method and the game."}
        value={details.name}
        error={errors["name"]}
        maxLength={200}
        onChange={(event) => onDetails({ name: event.currentTarget.value })}
      />
      <ProjectSelect
        id={inputId("project")}
        label="Project"
        description={isStudy ? "Its runs go there too." : "Where the run is listed."}
        value={where.project}
        error={errors["project"]}
        onChange={(project) => onWhere({ project })}
      />
      <ExecutorSelect
        id={inputId("executor")}
        label="Train on"
        description="Workers of Arcadia, or jobs of a scheduler."
        unset="Default of the project"
        value={where.executor}
        error={errors["executor"]}
        onChange={(executor) => onWhere({ executor })}
      />
      {where.executor === "slurm" && (
        <Textarea
          id={inputId("job_options")}
          label="Options of sbatch"
          description="One on each line, such as --qos=long or --gres=gpu:a100:1. They replace the site's."
          autosize
          minRows={1}
          maxRows={8}
          value={where.jobOptions}
          error={errors["job_options"]}
          onChange={(event) => onWhere({ jobOptions: event.currentTarget.value })}
        />
      )}
      {(where.executor ?? "workers") === "workers" && (
        <NeedsFields
          needs={where.needs}
          isInterruptible={where.isInterruptible}
          error={errors["needs"]}
          onNeeds={(needs) => onWhere({ needs })}
          onInterruptible={(isInterruptible) => onWhere({ isInterruptible })}
        />
      )}
      {!isStudy && (
        <TagsInput
          id={inputId("tags")}
          label="Tags"
          description="Press Enter or comma after each tag."
          value={details.tags}
          error={errors["tags"]}
          onChange={(tags) => onDetails({ tags: normalizeTags(tags) })}
        />
      )}
      <Textarea
        id={inputId("notes")}
        label={isStudy ? "Question" : "Notes"}
        description="The question that this should answer."
        autosize
        minRows={1}
        maxRows={8}
        value={details.notes}
        error={errors["notes"]}
        onChange={(event) => onDetails({ notes: event.currentTarget.value })}
      />
      {!isStudy && (
        <TextInput
          id={inputId("priority")}
          label="Priority"
          description="Queued runs with higher priority start first."
          inputMode="numeric"
          value={details.priority}
          error={errors["priority"]}
          onChange={(event) => onDetails({ priority: event.currentTarget.value })}
        />
      )}
    </div>
  );
}
