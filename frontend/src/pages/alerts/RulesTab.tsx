import {
  ActionIcon,
  Button,
  Checkbox,
  Group,
  NumberInput,
  Skeleton,
  Stack,
  Switch,
  Text,
  TextInput,
  Title,
} from "@mantine/core";
import { IconTrash } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { alertRulesQuery, scoreRulesQuery, useAddScore, useEditRule, useRemoveScore } from "@/api/alerts";
import { useMayWrite } from "@/api/projects";
import type { AlertRule, ScoreRule } from "@/api/types";
import { score } from "@/ui/format";
import { ProjectSelect } from "@/ui/ProjectSelect";
import { QueryError } from "@/ui/QueryError";
import { useUsualProject } from "@/ui/currentProject";
import classes from "./alerts.module.css";

/** Which alerts are raised. */
export function RulesTab() {
  const rules = useQuery(alertRulesQuery);
  return (
    <Stack gap="md">
      <section className={classes.card} aria-label="Rules">
        {rules.isError && !rules.data && (
          <QueryError error={rules.error} retry={() => void rules.refetch()} />
        )}
        {rules.isPending && <Skeleton height={320} radius="sm" role="status" aria-label="Loading rules…" />}
        {rules.data?.map((rule) => (
          <Rule key={rule.kind} rule={rule} />
        ))}
      </section>
      {/* It would move down when the rules arrive. */}
      {rules.isFetched && <Scores />}
    </Stack>
  );
}

function Rule({ rule }: { rule: AlertRule }) {
  const edit = useEditRule();
  return (
    <div className={classes.rule}>
      <Switch
        label={rule.title}
        flex="1 1 160px"
        disabled={!rule.may_edit}
        checked={edit.isPending ? (edit.variables.enabled ?? rule.enabled) : rule.enabled}
        onChange={(event) => edit.mutate({ kind: rule.kind, enabled: event.currentTarget.checked })}
      />
      {rule.threshold !== null && rule.unit !== null && (
        <Threshold
          key={rule.threshold}
          title={rule.title}
          value={rule.threshold}
          unit={rule.unit}
          readOnly={!rule.may_edit}
          onChange={(threshold) => edit.mutate({ kind: rule.kind, threshold })}
        />
      )}
      <Checkbox
        label="Rings the bell"
        aria-label={`${rule.title} rings the bell`}
        disabled={!rule.enabled || !rule.may_edit}
        checked={edit.isPending ? (edit.variables.rings ?? rule.rings) : rule.rings}
        onChange={(event) => edit.mutate({ kind: rule.kind, rings: event.currentTarget.checked })}
      />
    </div>
  );
}

interface ThresholdProps {
  title: string;
  value: number;
  unit: string;
  readOnly: boolean;
  onChange: (value: number) => void;
}

/** A number that is saved when the field is left. */
function Threshold({ title, value, unit, readOnly, onChange }: ThresholdProps) {
  const [typed, setTyped] = useState<number | string>(value);
  function save() {
    const threshold = Number(typed);
    if (typed === "" || !(threshold >= 0.1)) setTyped(value);
    else if (threshold !== value) onChange(threshold);
  }
  return (
    <Group gap="xs">
      <NumberInput
        aria-label={`${title}: ${unit}`}
        className={classes.threshold ?? ""}
        min={0.1}
        max={1e6}
        hideControls
        readOnly={readOnly}
        value={typed}
        onChange={setTyped}
        onBlur={save}
        onKeyDown={(event) => event.key === "Enter" && save()}
      />
      <Text size="sm">{unit}</Text>
    </Group>
  );
}

/** Scores that raise an alert when a run passes them. */
function Scores() {
  const scores = useQuery(scoreRulesQuery);
  const mayWrite = useMayWrite();
  return (
    <section className={classes.card} aria-label="Scores">
      <Title order={2}>Scores</Title>
      <Text size="sm" c="dimmed" mt={4} mb="xs">
        A run raises an alert when its mean return over 100 episodes passes a score of its project.
      </Text>
      {scores.data?.map((rule) => (
        <Score key={rule.id} rule={rule} />
      ))}
      {mayWrite && <AddScore />}
    </section>
  );
}

function Score({ rule }: { rule: ScoreRule }) {
  const remove = useRemoveScore();
  const name = `${score(rule.score)} in ${rule.env ?? "all environments"} of ${rule.project}`;
  return (
    <div className={classes.rule}>
      <Text size="sm">{name}</Text>
      {rule.may_edit && (
        <ActionIcon
          aria-label={`Remove ${name}`}
          loading={remove.isPending}
          onClick={() => remove.mutate(rule.id)}
        >
          <IconTrash size={16} />
        </ActionIcon>
      )}
    </div>
  );
}

function AddScore() {
  const add = useAddScore();
  const [value, setValue] = useState<number | string>("");
  const [env, setEnv] = useState("");
  const [chosen, setProject] = useState<string | null>(null);
  const usual = useUsualProject();
  const project = chosen ?? usual;
  function submit(event: FormEvent) {
    event.preventDefault();
    if (value === "") return;
    const onSuccess = () => {
      setValue("");
      setEnv("");
    };
    add.mutate({ score: Number(value), env: env.trim() || null, project }, { onSuccess });
  }
  return (
    <form onSubmit={submit}>
      <Group align="end" gap="xs" mt="xs">
        <NumberInput label="Score" w={120} hideControls value={value} onChange={setValue} />
        <TextInput
          label="Environment"
          placeholder="All environments"
          maxLength={100}
          style={{ flex: 1, minWidth: 180, maxWidth: 320 }}
          styles={{ input: { "--input-placeholder-color": "var(--arcadia-dim)" } }}
          value={env}
          onChange={(event) => setEnv(event.currentTarget.value)}
        />
        <ProjectSelect label="Project" w={160} value={project} onChange={setProject} />
        <Button type="submit" variant="default" h={36} disabled={value === ""} loading={add.isPending}>
          Add score
        </Button>
      </Group>
    </form>
  );
}
