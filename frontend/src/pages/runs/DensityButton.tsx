import { ActionIcon, Tooltip } from "@mantine/core";
import { IconBaselineDensityMedium, IconBaselineDensitySmall } from "@tabler/icons-react";
import type { Density } from "./useDensity";

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
