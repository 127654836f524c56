import { Anchor, Badge, Group, List, Skeleton, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearchParams } from "react-router";
import {
  type ArtifactDetails,
  artifactQuery,
  type ArtifactVersion,
  artifactVersionQuery,
  type ArtifactVersionDetails,
  type LinkedRun,
} from "@/api/artifacts";
import { isNotFound } from "@/api/problem";
import { ArtifactAliases } from "@/ui/ArtifactAliases";
import { inProject, projectAddress } from "@/ui/currentProject";
import { EmptyState } from "@/ui/EmptyState";
import { bytes, plural } from "@/ui/format";
import { QueryError } from "@/ui/QueryError";
import { Short, TimeAgo } from "@/ui/Quantity";
import { RunDot } from "@/ui/RunDot";
import { usePageTitle } from "@/ui/usePageTitle";
import classes from "./artifacts.module.css";
import { FileList } from "./FileList";
import { VersionActions } from "./VersionActions";

/** One artifact with its versions. The URL names the version: /artifacts/3/v2. */
export default function ArtifactPage() {
  const { id = "", version: inPath } = useParams();
  const [search] = useSearchParams();
  const inSearch = search.get("version");
  const version = inPath ?? (inSearch === null ? undefined : `v${inSearch.replace(/^v/, "")}`);
  const number = Number(id);
  const artifact = useQuery({ ...artifactQuery(number), enabled: Number.isInteger(number) });
  usePageTitle(artifact.data?.name ?? `Artifact ${id}`);
  if (!Number.isInteger(number) || isNotFound(artifact.error)) {
    return (
      <EmptyState title={`There is no artifact ${id}`} alone>
        It may have been deleted, or you have no access to its project.{" "}
        <Anchor component={Link} to="/artifacts">
          See all artifacts
        </Anchor>
      </EmptyState>
    );
  }
  return (
    <Stack className={classes.sheet} gap="md">
      <Anchor
        component={Link}
        to={artifact.data ? inProject("/artifacts", artifact.data.project) : "/artifacts"}
        size="sm"
        w="fit-content"
      >
        {artifact.data ? `Artifacts of ${artifact.data.project}` : "All artifacts"}
      </Anchor>
      {artifact.data ? (
        <LoadedArtifact artifact={artifact.data} version={version} />
      ) : artifact.isError ? (
        <QueryError error={artifact.error} retry={() => void artifact.refetch()} />
      ) : (
        <Skeleton height={320} radius="sm" role="status" aria-label="Loading the artifact…" />
      )}
    </Stack>
  );
}

function LoadedArtifact({ artifact, version }: { artifact: ArtifactDetails; version: string | undefined }) {
  const navigate = useNavigate();
  const { name, kind, project, version_count, total_bytes, versions } = artifact;
  const chosen =
    version === undefined ? versions[0] : versions.find((each) => `v${each.version}` === version);
  const leave = () =>
    void navigate(versions.length > 1 ? `/artifacts/${artifact.id}` : inProject("/artifacts", project), {
      replace: true,
    });
  return (
    <>
      <Stack gap={4}>
        <Group gap="xs">
          <Title order={1} className={classes.title}>
            {name}
          </Title>
          <Badge variant="default" tt="none">
            {kind}
          </Badge>
        </Group>
        <Text size="sm" c="dimmed">
          {plural(version_count, "version")}, {bytes(total_bytes)}, in{" "}
          <Anchor component={Link} to={projectAddress(project)} size="sm">
            {project}
          </Anchor>
        </Text>
      </Stack>
      <div className={classes.columns}>
        <nav aria-label="Versions" className={classes.versions}>
          {versions.map((each) => (
            <VersionLink key={each.id} version={each} isChosen={each === chosen} />
          ))}
        </nav>
        {chosen ? (
          <VersionSheet
            key={chosen.id}
            version={chosen}
            aliases={versions.flatMap((each) => each.aliases).filter((alias) => alias !== "latest")}
            onDeleted={leave}
          />
        ) : (
          <EmptyState title={`${name} has no version ${version ?? ""}`}>Choose one from the list.</EmptyState>
        )}
      </div>
    </>
  );
}

function VersionLink({ version, isChosen }: { version: ArtifactVersion; isChosen: boolean }) {
  return (
    <Link
      to={`/artifacts/${version.artifact_id}/v${version.version}`}
      className={classes.version}
      aria-current={isChosen || undefined}
    >
      <Group gap={8}>
        <Text size="sm" fw={600} component="span">
          v{version.version}
        </Text>
        <ArtifactAliases aliases={version.aliases} />
      </Group>
      <Text size="xs" c="dimmed" component="span">
        {bytes(version.bytes)}, <TimeAgo time={version.created_at} />
      </Text>
    </Link>
  );
}

interface VersionSheetProps {
  version: ArtifactVersion;
  aliases: readonly string[];
  onDeleted: () => void;
}

function VersionSheet({ version, aliases, onDeleted }: VersionSheetProps) {
  const details = useQuery(artifactVersionQuery(version.artifact_id, version.version));
  return (
    <Stack gap="md" miw={0}>
      <section aria-label={`Version ${version.version}`} className={classes.card}>
        <Group justify="space-between" mb="xs" gap="xs">
          <Group gap={8}>
            <Title order={2}>v{version.version}</Title>
            <ArtifactAliases aliases={version.aliases} />
          </Group>
          <VersionActions version={version} details={details.data} aliases={aliases} onDeleted={onDeleted} />
        </Group>
        <Facts version={version} />
      </section>
      {details.isError && !details.data && (
        <QueryError error={details.error} retry={() => void details.refetch()} />
      )}
      {details.isPending && <Skeleton height={160} role="status" aria-label="Loading the files…" />}
      {details.data && (
        <>
          <Lineage version={details.data} />
          <FileList version={details.data} />
        </>
      )}
    </Stack>
  );
}

function Facts({ version }: { version: ArtifactVersion }) {
  const metadata = Object.entries(version.metadata);
  return (
    <dl className={classes.facts}>
      <dt>Logged</dt>
      <dd>
        <TimeAgo time={version.created_at} />
        {version.step !== null && (
          <>
            {" "}
            at <Short value={version.step} unit="steps" />
          </>
        )}
      </dd>
      <dt>Files</dt>
      <dd>
        {plural(version.file_count, "file")}, {bytes(version.bytes)}
      </dd>
      {metadata.map(([name, value]) => (
        <FactRow key={name} name={name} value={value} />
      ))}
    </dl>
  );
}

function FactRow({ name, value }: { name: string; value: unknown }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{typeof value === "string" ? value : JSON.stringify(value)}</dd>
    </>
  );
}

function Lineage({ version }: { version: ArtifactVersionDetails }) {
  const { made_by, used_by, run_id, run_name } = version;
  const isMakerDeleted = run_id !== null && made_by.every(({ id }) => id !== run_id);
  return (
    <section aria-label="Lineage" className={classes.card}>
      <Title order={2} mb="xs">
        Lineage
      </Title>
      <dl className={classes.facts}>
        <dt>Made by</dt>
        <dd>
          {isMakerDeleted && <Text size="sm">{run_name ?? `run ${run_id}`}, which was deleted</Text>}
          {run_id === null && made_by.length === 0 && <Text size="sm">a run of another project</Text>}
          <Runs runs={made_by} />
        </dd>
        <dt>Used by</dt>
        <dd>{used_by.length > 0 ? <Runs runs={used_by} /> : "no run yet"}</dd>
      </dl>
    </section>
  );
}

function Runs({ runs }: { runs: readonly LinkedRun[] }) {
  return (
    <List size="sm" spacing={2} listStyleType="none">
      {runs.map((run) => (
        <List.Item key={run.id} icon={<RunDot run={run} />}>
          <Anchor component={Link} to={`/runs/${run.id}/artifacts`} size="sm">
            {run.name} (run {run.id})
          </Anchor>
        </List.Item>
      ))}
    </List>
  );
}
