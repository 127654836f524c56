import type {
  Artifact,
  ArtifactDetails,
  ArtifactEntry,
  ArtifactVersion,
  ArtifactVersionDetails,
} from "@/api/artifacts";

export const aVersion = (changes: Partial<ArtifactVersion> = {}): ArtifactVersion => ({
  id: 10,
  artifact_id: 3,
  name: "agent",
  project: "Main",
  kind: "model",
  version: 1,
  aliases: ["latest", "best"],
  digest: "d".repeat(64),
  bytes: 2048,
  file_count: 3,
  metadata: { score: 21, env: "Maze" },
  step: 5000,
  created_at: "2026-01-01T10:30:00Z",
  run_id: 1,
  run_name: "My run",
  may_edit: true,
  ...changes,
});

export const anEntry = (path: string, changes: Partial<ArtifactEntry> = {}): ArtifactEntry => ({
  path,
  bytes: 20,
  sha256: "a".repeat(64),
  file_id: 5,
  uri: null,
  ...changes,
});

export const aVersionWithFiles = (changes: Partial<ArtifactVersionDetails> = {}): ArtifactVersionDetails => ({
  ...aVersion(),
  entries: [
    anEntry("config.json"),
    anEntry("eval/scores.csv"),
    anEntry("remote", { sha256: null, file_id: null, uri: "s3://bucket/remote", bytes: 0 }),
    anEntry("weights.bin"),
  ],
  made_by: [{ id: 1, name: "My run", state: "finished", color: "#123456", project: "Main" }],
  used_by: [{ id: 2, name: "Evaluates", state: "running", color: "#123456", project: "Main" }],
  ...changes,
});

export const anArtifact = (changes: Partial<Artifact> = {}): Artifact => ({
  id: 3,
  name: "agent",
  project: "Main",
  kind: "model",
  created_at: "2026-01-01T10:00:00Z",
  version_count: 2,
  total_bytes: 4096,
  latest: aVersion(),
  ...changes,
});

export const anArtifactWithVersions = (): ArtifactDetails => ({
  ...anArtifact(),
  versions: [aVersion(), aVersion({ id: 9, version: 0, aliases: ["first"] })],
});
