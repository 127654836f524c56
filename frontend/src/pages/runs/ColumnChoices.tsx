import { Checkbox, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Fragment, type ReactNode } from "react";
import { allMetricNamesQuery } from "@/api/metrics";
import { runSettingsQuery } from "@/api/runs";
import { metricSections, metricTitle } from "@/charts/metrics";
import { useMetricCatalog } from "@/charts/useMetricCatalog";
import { shown } from "@/config-form/draft";
import { useSettingTitles } from "@/config-form/useSettingTitles";
import type { ConfigValue } from "@/api/types";
import { CONFIG_PREFIX, DIFFERING, MAX_AUTOMATIC } from "./automaticColumns";
import { COLUMN_SECTIONS, metricColumnId, RUN_COLUMN, settingsInColumns, STATISTICS } from "./columns";
import { hasColumn } from "./columnSpecs";
import { type ComputedColumn, computedColumns, computedId } from "./computedColumns";
import classes from "./ColumnMenu.module.css";
import { toFailuresQuery, type RunsView } from "./view";

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
export function ColumnChoices({ view, project, chosen, search, onToggle }: ColumnChoicesProps) {
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
