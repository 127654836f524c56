import { Link } from "react-router";
import { MAIN_PROJECT } from "@/api/projects";
import type { ListedRun } from "@/api/types";
import { useCurrentProject } from "@/ui/currentProject";
import { Thumbnail } from "@/ui/Thumbnail";
import { RunName } from "@/ui/RunName";
import { OriginBadge } from "@/ui/OriginBadge";
import { BaselineMark, CurveDot, PinButton } from "./CurveChoice";
import { ReplayPreview } from "./ReplayPreview";
import classes from "./runs.module.css";
import { useRowDensity } from "./useDensity";

/** Color, latest frame and linked name of a run. */
export function RunCell({ run }: { run: ListedRun }) {
  const showsAll = useCurrentProject() === null;
  const isCompact = useRowDensity() === "compact";
  return (
    <div className={classes.run}>
      <CurveDot run={run} />
      <ReplayPreview run={run}>
        <Thumbnail fileId={run.poster_file_id} size={isCompact ? 24 : 40} alt="" />
      </ReplayPreview>
      <div className={classes.runWords}>
        <Link to={`/runs/${run.id}`} className={classes.runLink}>
          <RunName name={run.name} wraps />
        </Link>
        <span className={classes.dim}>
          #{run.id} <BaselineMark run={run} />
          <OriginBadge run={run} />
          {run.parent?.run_id && ` · from #${run.parent.run_id}`}
          {showsAll && run.project !== MAIN_PROJECT && ` · ${run.project}`}
        </span>
      </div>
      <PinButton run={run} />
    </div>
  );
}
