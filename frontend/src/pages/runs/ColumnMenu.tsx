import { ActionIcon, Button, Checkbox, Popover, ScrollArea, Stack, Text, Tooltip } from "@mantine/core";
import { IconColumns3 } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Fragment, type ReactNode } from "react";
import { allMetricNamesQuery } from "@/api/metrics";
import type { ListedRun } from "@/api/types";
import { metricSections, metricTitle } from "@/charts/metrics";
import { useMetricCatalog } from "@/charts/useMetricCatalog";
import { useVariants } from "@/config-form/useVariants";
import { COLUMNS, configColumns, DEFAULT_COLUMNS, metricColumnId, RUN_COLUMN, STATISTICS } from "./columns";
import { hasColumn, toggleColumn } from "./columnSpecs";
import classes from "./runs.module.css";

interface ColumnMenuProps {
  runs: readonly ListedRun[];
  chosen: readonly string[];
  onChange: (chosen: string[]) => void;
}

type RenderCheckbox = (id: string, labelProps: { label: string } | { "aria-label": string }) => ReactNode;

/** Menu that selects columns: run fields, hyperparameters, and the last, max or min of any metric. */
export function ColumnMenu({ runs, chosen, onChange }: ColumnMenuProps) {
  const checkbox: RenderCheckbox = (id, labelProps) => (
    <Checkbox
      key={id}
      size="xs"
      {...labelProps}
      checked={id === RUN_COLUMN || hasColumn(chosen, id)}
      disabled={id === RUN_COLUMN}
      onChange={() => onChange(toggleColumn(chosen, id))}
    />
  );
  return (
    <Popover position="bottom-end" shadow="md" width={360} trapFocus>
      <Popover.Target>
        <Tooltip label="Choose columns">
          <ActionIcon size={32} aria-label="Choose columns" visibleFrom="sm">
            <IconColumns3 size={18} stroke={1.75} />
          </ActionIcon>
        </Tooltip>
      </Popover.Target>
      <Popover.Dropdown p={0}>
        <ScrollArea.Autosize mah={480} type="auto">
          <Stack gap="xs" p="sm">
            <div className={classes.columnChoices}>
              {COLUMNS.map(({ id, title }) => checkbox(id, { label: title }))}
            </div>
            <MetricChoices checkbox={checkbox} />
            <SettingChoices runs={runs} chosen={chosen} checkbox={checkbox} />
            <Button variant="subtle" size="xs" onClick={() => onChange(DEFAULT_COLUMNS)}>
              Reset columns
            </Button>
          </Stack>
        </ScrollArea.Autosize>
      </Popover.Dropdown>
    </Popover>
  );
}

interface SettingChoicesProps extends Pick<ColumnMenuProps, "runs" | "chosen"> {
  checkbox: RenderCheckbox;
}

/** The hyperparameters of the methods of these runs. */
function SettingChoices({ runs, chosen, checkbox }: SettingChoicesProps) {
  const { variants } = useVariants();
  const methods = new Set(runs.map(({ algorithm }) => algorithm));
  const settings = variants
    .filter(({ algorithm }) => methods.has(algorithm))
    .flatMap(({ fields }) => fields.map(({ name }) => name));
  return (
    <>
      <Text size="xs" c="dimmed" mt="xs">
        Hyperparameters
      </Text>
      {configColumns(settings, chosen).map(({ id, title }) => checkbox(id, { label: title }))}
    </>
  );
}

function MetricChoices({ checkbox }: { checkbox: RenderCheckbox }) {
  const catalog = useMetricCatalog();
  const { data: names = [] } = useQuery(allMetricNamesQuery);
  if (names.length === 0) return null;
  return (
    <div className={classes.metricChoices}>
      <Text size="xs" c="dimmed">
        Metrics
      </Text>
      {STATISTICS.map((statistic) => (
        <Text key={statistic} size="xs" c="dimmed" aria-hidden>
          {statistic}
        </Text>
      ))}
      {metricSections(catalog, names)
        .flatMap((section) => section.names)
        .map((name) => (
          <Fragment key={name}>
            <Text size="xs" truncate title={name} aria-hidden>
              {metricTitle(catalog, name)}
            </Text>
            {STATISTICS.map((statistic) =>
              checkbox(metricColumnId(name, statistic), {
                "aria-label": `${metricTitle(catalog, name)}, ${statistic}`,
              }),
            )}
          </Fragment>
        ))}
    </div>
  );
}
