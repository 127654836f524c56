import { Select, TagsInput, Textarea, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { executorsQuery } from "@/api/executors";
import type { ExecutorName } from "@/api/types";
import type { FieldErrors } from "@/config-form/draft";
import classes from "@/config-form/fields.module.css";
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
  /** Where the run trains. The choice is shown if a scheduler is set up. */
  executor: ExecutorName;
  onExecutor: (name: ExecutorName) => void;
}

export function DetailsFields(props: DetailsFieldsProps) {
  const { details, errors, isStudy, project, onChange, onProject, executor, onExecutor } = props;
  const { data: executors = [] } = useQuery(executorsQuery);
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
      {!isStudy && executors.length > 1 && (
        <Select
          id={inputId("executor")}
          label="Train on"
          description="Workers of Arcadia, or a job of a scheduler."
          data={executors.map(({ name, title }) => ({ value: name, label: title }))}
          allowDeselect={false}
          value={executor}
          error={errors["executor"]}
          onChange={(name) => name && onExecutor(name)}
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
