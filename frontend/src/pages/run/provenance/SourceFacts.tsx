import { Code, Text } from "@mantine/core";
import type { Provenance } from "@/api/types";
import { CopyText } from "@/ui/CopyText";
import { plural } from "@/ui/format";
import { Facts } from "./Facts";
import { Folded } from "./Folded";
import classes from "./provenance.module.css";

/** Commit, branch and uncommitted changes of Arcadia's code, or its build. */
export function SourceFacts({ provenance }: { provenance: Provenance }) {
  const { checkout, problem, diff } = provenance;
  return (
    <>
      <Facts
        facts={[
          ["Arcadia", provenance.build],
          ["Commit", checkout?.commit],
          ["Branch", checkout && (checkout.branch ?? "none (detached)")],
          ["Changes", checkout && (checkout.dirty ? "uncommitted changes" : "none since the commit")],
          ["Python", provenance.python],
        ]}
      />
      {problem && (
        <Text size="sm" c="dimmed" mt={4}>
          {problem}
        </Text>
      )}
      {diff && (
        <Folded title={`Uncommitted changes, ${plural(countChanges(diff), "line")}`}>
          <Code block tabIndex={0} className={classes.diff}>
            {diff}
          </Code>
          {checkout?.diff_cut && (
            <Text size="xs" c="dimmed" mt={4}>
              The diff is longer. Only its first megabyte was recorded.
            </Text>
          )}
          <div className={classes.copy}>
            <CopyText label="Copy diff" text={diff} />
          </div>
        </Folded>
      )}
      {checkout && checkout.untracked.length > 0 && (
        <Folded title={plural(checkout.untracked.length, "untracked file")}>
          <ul className={classes.files}>
            {checkout.untracked.map((path) => (
              <li key={path}>{path}</li>
            ))}
          </ul>
        </Folded>
      )}
    </>
  );
}

/** Count the added and removed lines of a diff. */
function countChanges(diff: string): number {
  return diff.split("\n").filter((line) => /^[+-](?!\+\+ |-- )/.test(line)).length;
}
