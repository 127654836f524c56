import { Badge } from "@mantine/core";

/** The names of a version of an artifact. `latest` is set automatically. */
export function ArtifactAliases({ aliases }: { aliases: readonly string[] }) {
  return aliases.map((alias) => (
    <Badge
      key={alias}
      size="sm"
      variant={alias === "latest" ? "light" : "outline"}
      tt="none"
      mr={4}
      miw="max-content"
    >
      {alias}
    </Badge>
  ));
}
