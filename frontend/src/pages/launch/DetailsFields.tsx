import { TagsInput, Textarea, TextInput } from "@mantine/core";
import type { ExecutorName } from "@/api/types";
import type { FieldErrors } from "@/config-form/draft";
import classes from "@/config-form/fields.module.css";
import { ExecutorSelect } from "@/ui/ExecutorSelect";
import { ProjectSelect } from "@/ui/ProjectSelect";
import { normalizeTags } from "@/ui/tags";
import { inputId } from "@/config-form/useConfigDraft";

/** Name, tags, notes and priority of a run. They do not affect training. */
export interface Details {
  name: string;
  tags: string[];
  notes: string;
  priority: string;
}

export const NO_DETAILS: Details = { name: "", tags: [], notes: "", priority: "0" };
export const DETAIL_NAMES: readonly string[] = Object.keys(NO_DETAILS);

interface DetailsFieldsProps {
  details: Details;
  errors: FieldErrors;
  /** A study has a question, but no tags and no priority. */
  isStudy: boolean;
  /** Name of the project of the new run or study. */
  project: string;
  onChange: (details: Details) => void;
  onProject: (name: string) => void;
  /** Where the runs train. Null is the default of the project. */
  executor: ExecutorName | null;
  onExecutor: (name: ExecutorName | null) => void;
  /** Options of the jobs on Slurm, one on each line. */
  jobOptions: string;
  onJobOptions: (text: string) => void;
}

export function DetailsFields(props: DetailsFieldsProps) {
  const { details, errors, isStudy, project, onChange, onProject, executor, onExecutor } = props;
  const { jobOptions, onJobOptions } = props;
  return (
    <div className={classes.fields}>
      <TextInput
        id={inputId("name")}
        label="Name"
        description={isStudy ? "By default the varied fields." : "By default the method and the game."}
        value={details.name}
        error={errors["name"]}
        maxLength={200}
        onChange={(event) => onChange({ ...details, name: event.currentTarget.value })}
      />
      <ProjectSelect
        id={inputId("project")}
        label="Project"
        description={isStudy ? "Its runs go there too." : "Where the run is listed."}
        value={project}
        error={errors["project"]}
        onChange={onProject}
      />
      <ExecutorSelect
        id={inputId("executor")}
        label="Train on"
        description="Workers of Arcadia, or jobs of a scheduler."
        unset="Default of the project"
        value={executor}
        error={errors["executor"]}
        onChange={onExecutor}
      />
      {executor === "slurm" && (
        <Textarea
          id={inputId("job_options")}
          label="Options of sbatch"
          description="One on each line, such as --qos=long or --gres=gpu:a100:1. They replace the site's."
          autosize
          minRows={1}
          maxRows={8}
          value={jobOptions}
          error={errors["job_options"]}
          onChange={(event) => onJobOptions(event.currentTarget.value)}
        />
      )}
      {!isStudy && (
        <TagsInput
          id={inputId("tags")}
          label="Tags"
          description="Press Enter or comma after each tag."
          value={details.tags}
          error={errors["tags"]}
          onChange={(tags) => onChange({ ...details, tags: normalizeTags(tags) })}
        />
      )}
      <Textarea
        id={inputId("notes")}
        label={isStudy ? "Question" : "Notes"}
        description="What you want to find out."
        autosize
        minRows={1}
        maxRows={8}
        value={details.notes}
        error={errors["notes"]}
        onChange={(event) => onChange({ ...details, notes: event.currentTarget.value })}
      />
      {!isStudy && (
        <TextInput
          id={inputId("priority")}
          label="Priority"
          description="Queued runs with higher priority start first."
          inputMode="numeric"
          value={details.priority}
          error={errors["priority"]}
          onChange={(event) => onChange({ ...details, priority: event.currentTarget.value })}
        />
      )}
    </div>
  );
}
