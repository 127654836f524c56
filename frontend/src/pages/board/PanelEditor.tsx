import { Button, Group, Input, Modal, NumberInput, SegmentedControl, Stack, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { selectedRunsQuery } from "@/api/boards";
import { replaceRuns } from "@/api/figures";
import type { BoardPanel } from "@/api/types";
import { AddressFigure } from "@/charts/AddressFigure";
import { ChartFields } from "@/charts/fields/ChartFields";
import { usePanelAddress } from "@/charts/usePanelAddress";
import { FilterField } from "@/ui/FilterField";
import classes from "./board.module.css";
import { COLUMNS, HEIGHT_STEP, MAX_HEIGHT, MIN_HEIGHT, withSize } from "./panels";

interface PanelEditorProps {
  project: string;
  panel: BoardPanel;
  onSave: (panel: BoardPanel) => void;
  onClose: () => void;
}

const PREVIEW_HEIGHT = 240;
const MAX_RUNS = 100;

/** Dialog to choose the chart, the runs and the size of a panel. */
export function PanelEditor({ project, panel, onSave, onClose }: PanelEditorProps) {
  const [draft, setDraft] = useState(panel);
  const change = (changes: Partial<BoardPanel>) => setDraft((current) => ({ ...current, ...changes }));
  const { columns = 6, height = 320, max_runs = 1 } = draft;
  const isFiltered = draft.filter !== null;
  const selected = useQuery({
    ...selectedRunsQuery(project, draft.filter ?? "", max_runs),
    enabled: isFiltered,
  }).data;
  const { address, problem } = usePanelAddress(project, draft);
  return (
    <Modal opened onClose={onClose} size="xl" title="Edit chart" closeButtonProps={{ "aria-label": "Close" }}>
      <Stack gap="md">
        <ChartFields
          address={draft.address}
          selected={isFiltered ? (selected ?? []) : undefined}
          onChange={(next) => change({ address: next })}
        />
        <Input.Wrapper label="Runs of the chart" labelElement="div">
          <Group gap="sm" align="center">
            <SegmentedControl
              size="xs"
              aria-label="How runs are chosen"
              data={[
                { value: "filter", label: "By filter" },
                { value: "chosen", label: "Chosen runs" },
              ]}
              value={isFiltered ? "filter" : "chosen"}
              onChange={(next) =>
                change({
                  filter: next === "filter" ? "" : null,
                  address: replaceRuns(draft.address, next === "filter" ? [] : (selected ?? [])),
                })
              }
            />
            {isFiltered && (
              <>
                <div className={classes.filter}>
                  <FilterField filter={draft.filter ?? ""} onFilter={(filter) => change({ filter })} />
                </div>
                <NumberInput
                  aria-label="Most runs"
                  size="xs"
                  w={110}
                  min={1}
                  max={MAX_RUNS}
                  suffix=" newest"
                  allowDecimal={false}
                  value={max_runs}
                  onChange={(next) =>
                    change({ max_runs: Math.min(Math.max(Number(next) || 1, 1), MAX_RUNS) })
                  }
                />
              </>
            )}
          </Group>
        </Input.Wrapper>
        <div className={classes.preview}>
          {address ? (
            <AddressFigure address={address} title={draft.title} height={PREVIEW_HEIGHT} bare />
          ) : (
            <div className={classes.nothing} style={{ height: PREVIEW_HEIGHT }} role="status">
              {problem ?? "Loading the runs…"}
            </div>
          )}
        </div>
        <Group gap="sm" align="end" grow preventGrowOverflow={false}>
          <TextInput
            label="Title"
            placeholder="The title of the figure"
            maxLength={200}
            value={draft.title}
            onChange={(event) => change({ title: event.currentTarget.value })}
          />
          <NumberInput
            label="Width"
            suffix={` of ${COLUMNS} columns`}
            min={1}
            max={COLUMNS}
            allowDecimal={false}
            value={columns}
            onChange={(next) => setDraft(withSize(draft, Number(next) || columns, height))}
          />
          <NumberInput
            label="Height"
            suffix=" px"
            min={MIN_HEIGHT}
            max={MAX_HEIGHT}
            step={HEIGHT_STEP}
            clampBehavior="blur"
            allowDecimal={false}
            value={height}
            onChange={(next) => change({ height: Number(next) || height })}
          />
        </Group>
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button disabled={!draft.address} onClick={() => onSave(withSize(draft, columns, height))}>
            Save chart
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
