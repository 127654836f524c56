import { ActionIcon, Button, FileButton, Group, Menu, Popover, Text, Tooltip } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import {
  IconBaselineDensityMedium,
  IconBaselineDensitySmall,
  IconBookmark,
  IconChevronDown,
  IconColumns3,
  IconFileUpload,
} from "@tabler/icons-react";
import { useRef, useState } from "react";
import { useMayWrite } from "@/api/projects";
import { lazyPart } from "@/ui/lazyPart";
import type { ColumnMenuProps } from "./ColumnPanel";
import type { GroupByProps } from "./GroupFields";
import type { Density } from "./useDensity";
import type { Imports } from "./useImports";
import type { ViewsMenuProps } from "./ViewsMenuContent";
import classes from "./ChartPanel.module.css";

interface DensityButtonProps {
  density: Density;
  onChange: (density: Density) => void;
}

/** Button that switches between comfortable and compact rows. */
export function DensityButton({ density, onChange }: DensityButtonProps) {
  const isCompact = density === "compact";
  const Icon = isCompact ? IconBaselineDensitySmall : IconBaselineDensityMedium;
  return (
    <Tooltip label={isCompact ? "Compact rows are on" : "Compact rows"}>
      <ActionIcon
        size={32}
        visibleFrom="sm"
        aria-label="Compact rows"
        aria-pressed={isCompact}
        onClick={() => onChange(isCompact ? "comfortable" : "compact")}
      >
        <Icon size={18} stroke={1.75} />
      </ActionIcon>
    </Tooltip>
  );
}

const ColumnPanel = lazyPart(() => import("./ColumnPanel").then((module) => module.ColumnPanel));

/** Button that opens the choice of the columns. */
export function ColumnMenu(props: ColumnMenuProps) {
  const [isUsed, use] = useDisclosure(false);
  return (
    <Popover position="bottom-end" shadow="md" width={400} trapFocus onOpen={use.open}>
      <Popover.Target>
        <Tooltip label="Choose columns">
          <ActionIcon size={32} aria-label="Choose columns" visibleFrom="sm">
            <IconColumns3 size={18} stroke={1.75} />
          </ActionIcon>
        </Tooltip>
      </Popover.Target>
      {isUsed && <ColumnPanel {...props} />}
    </Popover>
  );
}

const GroupFields = lazyPart(
  () => import("./GroupFields").then((module) => module.GroupFields),
  () => <Closed />,
);

/** Choice of the fields that the runs are grouped by. Most visits do not use it, so it starts as a button. */
export function GroupBy(props: GroupByProps) {
  const [isOpened, setOpened] = useState(false);
  if (!isOpened && props.view.by.length === 0) return <Closed onOpen={() => setOpened(true)} />;
  return <GroupFields {...props} isOpenedAtFirst={isOpened} />;
}

function Closed({ onOpen }: { onOpen?: () => void }) {
  return (
    <Button
      variant="default"
      size="xs"
      miw={130}
      fw={400}
      justify="flex-start"
      c="dimmed"
      role="combobox"
      aria-expanded={false}
      aria-haspopup="listbox"
      aria-label="Group runs by"
      onClick={onOpen}
    >
      Group by
    </Button>
  );
}

const ImportAgentModal = lazyPart(() =>
  import("./ImportAgentModal").then((module) => module.ImportAgentModal),
);

/** Button that imports runs from archive files, and agents. They can also be dropped on the page. */
export function ImportButton({ imports }: { imports: Imports }) {
  const mayWrite = useMayWrite();
  const reset = useRef<() => void>(null);
  function choose(files: File[]) {
    imports.add(files);
    // Otherwise the same file could not be chosen again.
    reset.current?.();
  }
  if (!mayWrite) return null;
  return (
    <>
      {imports.agent && (
        <ImportAgentModal
          key={`${imports.agent.name} ${imports.agent.lastModified}`}
          file={imports.agent}
          project={imports.project}
          onClose={imports.closeAgent}
        />
      )}
      <FileButton
        onChange={choose}
        resetRef={reset}
        accept=".arcadia,.zip"
        multiple
        inputProps={{ "aria-label": "Archive and agent files" }}
      >
        {(props) => (
          <Button
            {...props}
            variant="default"
            size="xs"
            loading={imports.isImporting}
            leftSection={<IconFileUpload size={16} />}
            title="Import runs from .arcadia files or agents from .zip files, or drop them on this page"
          >
            Import
          </Button>
        )}
      </FileButton>
    </>
  );
}

const ViewsMenuContent = lazyPart(() =>
  import("./ViewsMenuContent").then((module) => module.ViewsMenuContent),
);

/** Menu of the saved views. Its items are loaded when it is first opened. */
export function ViewsMenu(props: ViewsMenuProps) {
  const { opened, missing, isChanged } = props.saved;
  const [isUsed, use] = useDisclosure(false);
  return (
    <Group gap={8} wrap="nowrap">
      <Menu width={280} position="bottom-start" keepMounted={false} onOpen={use.open}>
        <Menu.Target>
          <Button
            variant="default"
            size="xs"
            h={32}
            leftSection={<IconBookmark size={16} />}
            rightSection={<IconChevronDown size={14} />}
          >
            <span className={classes.viewName}>{opened ? `View: ${opened.name}` : "Views"}</span>
          </Button>
        </Menu.Target>
        {isUsed && <ViewsMenuContent {...props} />}
      </Menu>
      <Text size="xs" c="dimmed" role="status">
        {missing !== null && `There is no view ${missing} here.`}
        {isChanged && "Unsaved changes"}
      </Text>
    </Group>
  );
}
