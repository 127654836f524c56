import { Button, Checkbox, Group, Popover, ScrollArea, Stack, Text, TextInput } from "@mantine/core";
import { IconPlus, IconSearch } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Fragment, type ReactNode, useState } from "react";
import { allMetricNamesQuery } from "@/api/metrics";
import { runSettingsQuery } from "@/api/runs";
import type { ConfigValue } from "@/api/types";
import { metricSections, metricTitle } from "@/charts/metrics";
import { useMetricCatalog } from "@/charts/useMetricCatalog";
import { shown } from "@/config-form/draft";
import { useSettingTitles } from "@/config-form/useSettingTitles";
import { ExpressionField } from "@/ui/ExpressionField";
import { useCatchFocus } from "@/ui/useCatchFocus";
import { CONFIG_PREFIX, DIFFERING, MAX_AUTOMATIC } from "./automaticColumns";
import { COLUMN_SECTIONS, metricColumnId, RUN_COLUMN, settingsInColumns, STATISTICS } from "./columns";
import { hasColumn, toggleColumn } from "./columnSpecs";
import { type ComputedColumn, computedColumns, computedId, MAX_COMPUTED } from "./computedColumns";
import { type RunsView, toFailuresQuery } from "./view";
import classes from "./ColumnMenu.module.css";

export interface ColumnMenuProps {
  view: RunsView;
  project: string | null;
  /** Specs of all shown columns. */
  chosen: readonly string[];
  onChange: (chosen: string[]) => void;
  onReset: () => void;
}

/** Searchable menu that selects columns: run fields, progress, settings, and the last, max or min of any metric. */
export function ColumnPanel({ view, project, chosen, onChange, onReset }: ColumnMenuProps) {
  const [search, setSearch] = useState("");
  const [isAdding, setAdding] = useState(false);
  const searchField = useCatchFocus<HTMLInputElement>(!isAdding);
  const isFull = computedColumns(chosen).length >= MAX_COMPUTED;
  const content = isAdding ? (
    <ComputedColumnForm
      onAdd={(id) => {
        if (!hasColumn(chosen, id)) onChange([...chosen, id]);
        setAdding(false);
      }}
      onCancel={() => setAdding(false)}
    />
  ) : (
    <>
      <div className={classes.search}>
        <TextInput
          ref={searchField}
          type="search"
          size="xs"
          data-autofocus
          aria-label="Search columns"
          placeholder="Search columns"
          leftSection={<IconSearch size={14} aria-hidden />}
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
        />
      </div>
      <ScrollArea.Autosize mah={440} type="auto" scrollbars="y">
        <Stack gap="sm" p="sm">
          <ColumnChoices
            view={view}
            project={project}
            chosen={chosen}
            search={search}
            onToggle={(id) => onChange(toggleColumn(chosen, id))}
          />
        </Stack>
      </ScrollArea.Autosize>
      <div className={classes.foot}>
        <Button
          variant="subtle"
          size="compact-xs"
          h={24}
          leftSection={<IconPlus size={14} aria-hidden />}
          disabled={isFull}
          title={isFull ? `At most ${MAX_COMPUTED} computed columns` : undefined}
          onClick={() => setAdding(true)}
        >
          Computed column
        </Button>
        <Button variant="subtle" size="compact-xs" h={24} onClick={onReset}>
          Reset columns
        </Button>
      </div>
    </>
  );
  return (
    <Popover.Dropdown p={0} aria-label="Columns">
      {content}
    </Popover.Dropdown>
  );
}

interface ColumnChoicesProps {
  view: RunsView;
  project: string | null;
  chosen: readonly string[];
  search: string;
  onToggle: (id: string) => void;
}

interface Choice {
  id: string;
  title: string;
  /** More search terms, such as the field of a setting. */
  words?: string;
  /** Shown beside the title. */
  detail?: string;
}

interface Section {
  title: string;
  choices: readonly Choice[];
  /** True to show two choices per line. */
  pairs?: boolean;
}

/** The columns to choose from, by section, that match a search. */
function ColumnChoices({ view, project, chosen, search, onToggle }: ColumnChoicesProps) {
  const settings = useSettingSections(view, project, chosen);
  const catalog = useMetricCatalog();
  const { data: metrics = [] } = useQuery(allMetricNamesQuery);
  const found = (choice: Choice) => matches(search, `${choice.title} ${choice.words ?? ""}`);
  const sections: Section[] = [
    ...COLUMN_SECTIONS.map(({ title, columns }) => ({ title, choices: columns, pairs: true })),
    { title: "Computed", choices: computedColumns(chosen).map(computedChoice) },
    ...settings,
  ];
  const shownSections = sections
    .map((section) => ({ ...section, choices: section.choices.filter(found) }))
    .filter(({ choices }) => choices.length > 0);
  const shownMetrics = metricSections(catalog, metrics)
    .flatMap(({ names }) => names)
    .filter((name) => matches(search, `${metricTitle(catalog, name)} ${name} metric`));
  const box = (id: string, label: string) => (
    <Checkbox
      size="xs"
      aria-label={label}
      checked={id === RUN_COLUMN || hasColumn(chosen, id)}
      disabled={id === RUN_COLUMN}
      onChange={() => onToggle(id)}
    />
  );
  return (
    <>
      {shownSections.map((section) => (
        <fieldset key={section.title} className={classes.section}>
          <legend>{section.title}</legend>
          <div className={section.pairs ? classes.pairs : undefined}>
            {section.choices.map(({ id, title, detail }) => (
              <label key={id} className={classes.choice}>
                {box(id, title)}
                <span className={classes.name}>{title}</span>
                {detail && (
                  <span className={classes.detail} title={detail}>
                    {detail}
                  </span>
                )}
              </label>
            ))}
          </div>
        </fieldset>
      ))}
      {shownMetrics.length > 0 && (
        <MetricChoices names={shownMetrics} titleOf={(name) => metricTitle(catalog, name)} box={box} />
      )}
      {shownSections.length === 0 && shownMetrics.length === 0 && (
        <Text size="sm" c="dimmed">
          No column matches
        </Text>
      )}
    </>
  );
}

const computedChoice = (column: ComputedColumn): Choice => ({
  id: computedId(column),
  title: column.title || column.expression,
  words: column.expression,
  ...(column.title && { detail: column.expression }),
});

interface MetricChoicesProps {
  names: readonly string[];
  titleOf: (name: string) => string;
  box: (id: string, label: string) => ReactNode;
}

function MetricChoices({ names, titleOf, box }: MetricChoicesProps) {
  return (
    <fieldset className={classes.section}>
      <legend>Metrics</legend>
      <div className={classes.metrics}>
        <span />
        {STATISTICS.map((statistic) => (
          <span key={statistic} className={classes.statistic} aria-hidden>
            {statistic}
          </span>
        ))}
        {names.map((name) => (
          <Fragment key={name}>
            <span className={classes.name} title={name} aria-hidden>
              {titleOf(name)}
            </span>
            {STATISTICS.map((statistic) => (
              <span key={statistic} className={classes.metric}>
                {box(metricColumnId(name, statistic), `${titleOf(name)}, ${statistic}`)}
              </span>
            ))}
          </Fragment>
        ))}
      </div>
    </fieldset>
  );
}

/** Settings that have a column of another name. */
const SHOWN_ELSEWHERE = new Set(["algorithm", "env"]);

/** Return the settings of the listed runs and of the chosen columns: those that differ, then the others. */
function useSettingSections(view: RunsView, project: string | null, chosen: readonly string[]): Section[] {
  const titles = useSettingTitles();
  const { data } = useQuery(runSettingsQuery(toFailuresQuery(view, project), true));
  const listed = data?.settings ?? [];
  const fields = new Set(listed.map(({ field }) => field));
  const others = [...new Set(settingsInColumns(chosen))].filter((field) => !fields.has(field));
  const choice = (field: string, title: string, detail?: string): Choice => ({
    id: CONFIG_PREFIX + field,
    title,
    words: field,
    ...(detail !== undefined && { detail }),
  });
  const differing = listed
    .filter(({ distinct }) => distinct > 1)
    .map(({ field, title, distinct, examples }) => choice(field, title, valuesText(distinct, examples)));
  const equal = [
    ...listed
      .filter(({ field, distinct }) => distinct <= 1 && !SHOWN_ELSEWHERE.has(field))
      .map(({ field, title, examples }) => choice(field, title, examples.map(valueText).join())),
    ...others.map((field) => choice(field, titles.get(field) ?? field)),
  ];
  const automatic = { id: DIFFERING, title: `Up to ${MAX_AUTOMATIC} of these automatically` };
  return [
    { title: "Settings that differ", choices: differing.length > 0 ? [automatic, ...differing] : [] },
    { title: "Other settings", choices: equal },
  ];
}

const valueText = (value: unknown) => shown(value as ConfigValue);

/** Return the values of a setting: "3 values: 1e-4, 1e-3, …". */
function valuesText(distinct: number, examples: readonly unknown[]): string {
  const more = distinct > examples.length ? ", …" : "";
  return `${distinct} values: ${examples.map(valueText).join("; ")}${more}`;
}

/** Return true if the text contains each word of the search. */
function matches(search: string, text: string): boolean {
  const lower = text.toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => lower.includes(word));
}

const MAX_TITLE = 60;

interface ComputedColumnFormProps {
  onAdd: (id: string) => void;
  onCancel: () => void;
}

/** Form for a column with a number that is calculated for each run. */
function ComputedColumnForm({ onAdd, onCancel }: ComputedColumnFormProps) {
  const [title, setTitle] = useState("");
  const [checked, setChecked] = useState<string | null>(null);
  const add = (expression: string) => {
    if (expression) onAdd(computedId({ title: title.trim(), expression }));
  };
  return (
    <Stack gap="xs" p="sm">
      <Text size="sm" fw={600}>
        Add computed column
      </Text>
      <div>
        <ExpressionField
          kind="value"
          label="Expression"
          placeholder="best_return / hours"
          value=""
          autoFocus
          onApply={add}
          onCheck={setChecked}
        />
      </div>
      <Text size="xs" c="dimmed">
        Use numbers of the run, settings and metrics, such as <code>best_return / hours</code> or{" "}
        <code>max(train/entropy) - last(train/entropy)</code>.
      </Text>
      <TextInput
        size="xs"
        label="Title"
        placeholder="The expression"
        maxLength={MAX_TITLE}
        value={title}
        // An equals sign ends the title in the URL.
        onChange={(event) => setTitle(event.currentTarget.value.replaceAll("=", ""))}
        onKeyDown={(event) => event.key === "Enter" && checked && add(checked)}
      />
      <Group gap="xs" justify="flex-end">
        <Button size="xs" variant="default" onClick={onCancel}>
          Cancel
        </Button>
        <Button size="xs" disabled={checked === null} onClick={() => checked && add(checked)}>
          Add column
        </Button>
      </Group>
    </Stack>
  );
}
