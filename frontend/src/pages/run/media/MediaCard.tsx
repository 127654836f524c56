import { Slider, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMemo, useRef, useState } from "react";
import { mediaSeriesQuery } from "@/api/media";
import type { MediaItem, MediaSeries, Run } from "@/api/types";
import { useVisible } from "@/charts/useVisible";
import { exact, short } from "@/ui/format";
import { QueryError } from "@/ui/QueryError";
import { HistogramView } from "./HistogramView";
import classes from "./media.module.css";
import { ImageView, VideoView } from "./PictureView";
import { TableView } from "./TableView";

const VIEWS = { image: ImageView, video: VideoView, histogram: HistogramView, table: TableView };

interface MediaCardProps {
  run: Run;
  series: MediaSeries;
}

/** One name and kind of media, with a slider over its steps. It is fetched once it can be seen. */
export function MediaCard({ run, series }: MediaCardProps) {
  const card = useRef<HTMLElement>(null);
  const wasSeen = useOnceTrue(useVisible(card));
  const items = useQuery({ ...mediaSeriesQuery(run.id, series), enabled: wasSeen });
  return (
    <section ref={card} className={classes.card} aria-label={`${series.name}, ${series.kind}`}>
      <Title order={3} className={classes.name}>
        {series.name}
      </Title>
      {items.data ? (
        <MediaSteps series={series} items={items.data} />
      ) : items.isError ? (
        <QueryError error={items.error} retry={() => void items.refetch()} />
      ) : (
        <Text size="sm" c="dimmed" className={classes.waiting}>
          Loading {series.kind}…
        </Text>
      )}
    </section>
  );
}

/** Return true from the first time that the value is true. */
function useOnceTrue(value: boolean): boolean {
  const [wasTrue, setWasTrue] = useState(value);
  if (value && !wasTrue) setWasTrue(true);
  return wasTrue || value;
}

function MediaSteps({ series, items }: { series: MediaSeries; items: readonly MediaItem[] }) {
  const steps = useMemo(() => [...new Set(items.map(({ step }) => step))], [items]);
  // Follow the newest step until the user chooses one.
  const [chosen, setChosen] = useState<number | null>(null);
  const place = chosen === null ? steps.length - 1 : Math.max(0, steps.indexOf(chosen));
  const step = steps[place] ?? 0;
  const View = VIEWS[series.kind];
  const choose = (index: number) => setChosen(index === steps.length - 1 ? null : (steps[index] ?? null));
  return (
    <>
      <View items={items.filter((item) => item.step === step)} all={items} />
      <div className={classes.steps}>
        <Text size="sm" className={classes.step} title={exact(step, "steps")}>
          Step {short(step)}
          <span className={classes.dim}>
            {" "}
            {place + 1} of {steps.length}
          </span>
        </Text>
        {steps.length > 1 && (
          <Slider
            className={classes.slider}
            min={0}
            max={steps.length - 1}
            value={place}
            label={(index) => short(steps[index] ?? 0, "steps")}
            thumbLabel={`Step of ${series.name}`}
            thumbValueText={(index) => short(steps[index] ?? 0, "steps")}
            onChange={choose}
          />
        )}
      </div>
    </>
  );
}
