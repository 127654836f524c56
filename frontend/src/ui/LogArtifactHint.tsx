import { CommandLine } from "./CommandLine";
import classes from "./LogArtifactHint.module.css";

/** How to log the first artifact. */
export function LogArtifactHint() {
  return (
    <div className={classes.hint}>
      <span>An artifact is a named, versioned file or folder, such as a model. Log one in your script:</span>
      <CommandLine command={'run.log_artifact("model.pt", kind="model", aliases=["best"])'} />
    </div>
  );
}
