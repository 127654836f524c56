import { Text, TextInput } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { useState } from "react";
import { DataTable } from "@/ui/DataTable";
import { plural } from "@/ui/format";
import { Folded } from "./Folded";
import classes from "./provenance.module.css";

/** The installed Python packages, with a search. */
export function PackageList({ packages }: { packages: Record<string, string> }) {
  const [search, setSearch] = useState("");
  const all = Object.entries(packages).toSorted(([one], [other]) => one.localeCompare(other));
  const wanted = search.trim().toLowerCase();
  const found = all.filter(([name]) => name.toLowerCase().includes(wanted));
  return (
    <Folded title={plural(all.length, "package")}>
      <TextInput
        type="search"
        size="xs"
        my="xs"
        maw={280}
        leftSection={<IconSearch size={14} aria-hidden />}
        placeholder="Search packages"
        aria-label="Search packages"
        value={search}
        onChange={(event) => setSearch(event.currentTarget.value)}
      />
      {found.length === 0 ? (
        <Text size="sm" c="dimmed" role="status">
          No package has “{search.trim()}” in its name.
        </Text>
      ) : (
        <div className={classes.packages} tabIndex={0} role="group" aria-label="Packages">
          <DataTable
            verticalSpacing={2}
            rows={found}
            rowKey={([name]) => name}
            columns={[
              { isRowHeader: true, cell: ([name]) => name },
              { numeric: true, cell: ([, version]) => version },
            ]}
          />
        </div>
      )}
    </Folded>
  );
}
