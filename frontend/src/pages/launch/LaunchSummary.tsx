import { Button, Stack, Text, Title } from "@mantine/core";
import { IconFileCode } from "@tabler/icons-react";
import type { ConfigValue, Environment, ExecutorName, RunConfig } from "@/api/types";
import { ConfirmCost } from "@/ui/ConfirmCost";
import { exact, plural, short } from "@/ui/format";
import { runRange, studyCostText } from "@/ui/studyCost";
import { shown } from "@/config-form/draft";
import { Differences } from "./Differences";
import classes from "./launch.module.css";
import { RunNeeds } from "./RunNeeds";
import type { ConfigDraft } from "@/config-form/useConfigDraft";
import { FormErrors } from "@/ui/FormErrors";
import type { StudyCost } from "./useStudyCost";

interface LaunchSummaryProps {
  config: ConfigDraft;
  environments: readonly Environment[];
  /** Cost of the study, if a field has several values. */
  cost: StudyCost | null;
  /** Priority of a single run. */
  priority: number;
  executor: ExecutorName | null;
  /** Name of the project, whose default applies without an executor. */
  project: string;
  /** General errors, and the number of fields with errors. */
  problems: readonly string[];
  busy: boolean;
  /** Called to paste or copy the settings. */
  onText: () => void;
}

/** Priority of the runs of a study. */
const STUDY_PRIORITY = -10;

/** Summary of the run or study before its launch. */
export function LaunchSummary({
  config,
  environments,
  cost,
  priority,
  executor,
  project,
  problems,
  busy,
  onText,
}: LaunchSummaryProps) {
  const { values } = config;
  const environment = environments.find((candidate) => candidate.id === values["env"]);
  const wrong = Object.keys(config.errors).length;
  return (
    <Stack component="section" gap="sm" className={classes.summary} aria-label="Summary">
      <Title order={2}>
        {config.variant?.title ?? "Run"} on {environment?.title ?? shown(values["env"])}
      </Title>
      <Text size="sm" title={exactSteps(values["total_steps"])}>
        {lengthOf(values, environment)}
      </Text>
      <Differences config={config} />
      <RunNeeds
        values={values}
        priority={cost ? STUDY_PRIORITY : priority}
        executor={executor}
        project={project}
        isStudy={cost !== null}
        isInvalid={Object.keys(config.allErrors).length > 0}
      />
      {cost ? (
        <CostOfStudy cost={cost} />
      ) : (
        <Text size="xs" c="dimmed">
          Several values make a study: seeds 1-5, numbers 1e-4, 3e-4 or log(1e-4, 1e-2) x 20.
        </Text>
      )}
      <FormErrors messages={problems} />
      {wrong > 0 && (
        <Text size="sm" c="var(--mantine-color-error)" role="alert">
          {plural(wrong, "field needs", "fields need")} a valid value.
        </Text>
      )}
      <div className={classes.submit}>
        <Button type="submit" size="md" loading={busy} disabled={cost?.ready === false} fullWidth>
          {cost ? startLabel(cost) : "Launch run"}
        </Button>
      </div>
      <Button size="xs" variant="default" leftSection={<IconFileCode size={16} />} onClick={onText}>
        Paste or copy settings
      </Button>
    </Stack>
  );
}

/** Number of runs and their cost, with a confirmation if required. */
function CostOfStudy({ cost }: { cost: StudyCost }) {
  const { preview, refused } = cost;
  return (
    <Stack gap="xs">
      <div role="status" aria-label="Cost">
        <Text size="sm" fw={500}>
          {preview ? studyCostText(preview) : cost.counting ? "Counting runs…" : ""}
        </Text>
        <Text size="xs" c="dimmed">
          Single runs start before the runs of a study.
        </Text>
      </div>
      {preview && !refused && (
        <ConfirmCost cost={preview} confirmed={cost.confirmed} onChange={cost.confirm} />
      )}
      {refused && (
        <Text size="sm" c="var(--mantine-color-error)" role="alert">
          {refused}
        </Text>
      )}
    </Stack>
  );
}

const startLabel = ({ preview }: StudyCost) =>
  preview ? `Start study · ${runRange(preview)}` : "Start study";

function exactSteps(steps: ConfigValue | undefined): string | undefined {
  return typeof steps === "number" ? exact(steps, "steps") : undefined;
}

function lengthOf(values: RunConfig, environment: Environment | undefined): string {
  const {
    total_steps: steps,
    num_envs: envs,
    num_actors: actors,
    num_agents: agents,
    t_max: rollout,
  } = values;
  if (typeof steps !== "number") return "";
  const perStep = environment?.frames_per_step ?? 1;
  const parts = [short(steps, "steps") + (perStep > 1 ? ` (${short(steps * perStep, "frames")})` : "")];
  if (typeof envs === "number" && typeof rollout === "number") {
    parts.push(`${plural(envs, "environment")}, ${plural(envs * rollout, "step")} per update`);
  }
  if (typeof actors === "number" && typeof rollout === "number") {
    parts.push(`${plural(actors, "actor-learner")}, ${plural(rollout, "step")} per update`);
  }
  if (typeof agents === "number") parts.push(`${plural(agents, "agent")}`);
  return parts.join(" in ");
}
