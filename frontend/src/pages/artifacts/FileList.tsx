import { Anchor, Breadcrumbs, Button, Group, Skeleton, Stack, Text, Title } from "@mantine/core";
import { IconExternalLink, IconFile, IconFolder } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useSearchParams } from "react-router";
import {
  type ArtifactEntry,
  artifactFileAddress,
  artifactTextQuery,
  type ArtifactVersion,
  type ArtifactVersionDetails,
  PREVIEW_BYTES,
} from "@/api/artifacts";
import { DataTable } from "@/ui/DataTable";
import { bytes, exact, plural } from "@/ui/format";
import { QueryError } from "@/ui/QueryError";
import { listFolder, parseTable, previewKind } from "./fileTree";
import classes from "./artifacts.module.css";

/** Files that are shown at first. */
const MOST_SHOWN = 200;

/** The files of a version, folder by folder. The URL names the folder and the file that is shown. */
export function FileList({ version }: { version: ArtifactVersionDetails }) {
  const [params] = useSearchParams();
  const [showsAll, setShowsAll] = useState(false);
  const named = params.get("file");
  const file = version.entries.find(({ path }) => path === named);
  const folder = file ? file.path.split("/").slice(0, -1).join("/") : (params.get("folder") ?? "");
  const { folders, entries } = listFolder(version.entries, folder);
  const shown = showsAll ? entries : entries.slice(0, MOST_SHOWN);
  return (
    <>
      <section aria-label="Files" className={classes.card}>
        <Title order={2} mb="xs">
          Files
        </Title>
        {folder && <FolderPath name={version.name} folder={folder} />}
        <ul className={classes.files}>
          {folders.map(({ name, files, bytes: size }) => (
            <li key={`${name}/`}>
              <Link
                to={{ search: search({ folder: folder ? `${folder}/${name}` : name }) }}
                replace
                className={classes.file}
              >
                <IconFolder size={16} aria-hidden />
                <span className={classes.name}>{name}</span>
                <Text size="xs" c="dimmed" component="span">
                  {plural(files, "file")}, {bytes(size)}
                </Text>
              </Link>
            </li>
          ))}
          {shown.map(({ path, uri, bytes: size }) => (
            <li key={path}>
              <Link
                to={{ search: search({ file: path }) }}
                replace
                className={classes.file}
                aria-current={path === file?.path || undefined}
              >
                {uri === null ? (
                  <IconFile size={16} aria-hidden />
                ) : (
                  <IconExternalLink size={16} aria-hidden />
                )}
                <span className={classes.name}>{path.slice(folder ? folder.length + 1 : 0)}</span>
                <Text size="xs" c="dimmed" component="span">
                  {uri === null ? bytes(size) : "reference"}
                </Text>
              </Link>
            </li>
          ))}
        </ul>
        {shown.length < entries.length && (
          <Button variant="default" size="xs" mt="xs" onClick={() => setShowsAll(true)}>
            Show all {exact(entries.length)} files
          </Button>
        )}
      </section>
      {named !== null && !file && (
        <Text role="alert" size="sm">
          {version.name}:v{version.version} has no file {named}. Choose one from the list.
        </Text>
      )}
      {file && <FilePreview key={file.path} version={version} entry={file} />}
    </>
  );
}

function FolderPath({ name, folder }: { name: string; folder: string }) {
  const parts = folder.split("/");
  return (
    <Breadcrumbs mb="xs" separatorMargin={4}>
      <Anchor component={Link} to={{ search: "" }} replace size="sm">
        {name}
      </Anchor>
      {parts.map((part, place) => (
        <Anchor
          key={place}
          component={Link}
          to={{ search: search({ folder: parts.slice(0, place + 1).join("/") }) }}
          replace
          size="sm"
        >
          {part}
        </Anchor>
      ))}
    </Breadcrumbs>
  );
}

const search = (params: Record<string, string>) => `?${new URLSearchParams(params).toString()}`;

const MOST_ROWS = 100;

interface FilePreviewProps {
  version: ArtifactVersion;
  entry: ArtifactEntry;
}

/** A file of a version: its content if it is a picture, a video, a table or a text. */
function FilePreview({ version, entry }: FilePreviewProps) {
  const url = artifactFileAddress(version, entry.path);
  return (
    <section aria-label={entry.path} className={classes.card}>
      <Group justify="space-between" mb="xs" gap="xs">
        <Title order={2} className={classes.title}>
          {entry.path.slice(entry.path.lastIndexOf("/") + 1)}
        </Title>
        {entry.uri === null && (
          <Anchor href={url} download size="sm">
            Download ({bytes(entry.bytes)})
          </Anchor>
        )}
      </Group>
      {entry.uri === null ? <Content url={url} entry={entry} /> : <Reference uri={entry.uri} />}
    </section>
  );
}

function Reference({ uri }: { uri: string }) {
  return (
    <Text size="sm">
      A reference to <code>{uri}</code>. Arcadia does not have its content.
    </Text>
  );
}

function Content({ url, entry }: { url: string; entry: ArtifactEntry }) {
  const kind = previewKind(entry.path);
  const [isBroken, setBroken] = useState(false);
  if (isBroken) {
    return (
      <Text size="sm">
        The browser cannot show this {kind}. The file may be damaged. Download it to open it.
      </Text>
    );
  }
  const fail = () => setBroken(true);
  if (kind === "picture")
    return <img className={classes.picture} src={url} alt={entry.path} onError={fail} />;
  if (kind === "video")
    return (
      <video className={classes.picture} src={url} controls muted aria-label={entry.path} onError={fail} />
    );
  if (kind === null || entry.bytes === 0) {
    return (
      <Text size="sm" c="dimmed">
        {entry.bytes === 0
          ? "The file is empty."
          : "This type of file has no preview. Download it to open it."}
      </Text>
    );
  }
  return <TextContent url={url} entry={entry} kind={kind} />;
}

interface TextContentProps {
  url: string;
  entry: ArtifactEntry;
  kind: "table" | "json" | "text";
}

function TextContent({ url, entry, kind }: TextContentProps) {
  const text = useQuery(artifactTextQuery(url));
  if (text.isError) return <QueryError error={text.error} retry={() => void text.refetch()} />;
  if (text.data === undefined) return <Skeleton height={120} role="status" aria-label="Loading the file…" />;
  const isCut = entry.bytes > PREVIEW_BYTES;
  return (
    <Stack gap="xs">
      {kind === "table" ? (
        <TableContent rows={parseTable(text.data, entry.path, { isCut, most: MOST_ROWS + 1 })} />
      ) : (
        <pre className={classes.text} tabIndex={0} aria-label={`Content of ${entry.path}`}>
          {kind === "json" && !isCut ? indented(text.data) : text.data}
        </pre>
      )}
      {isCut && (
        <Text size="xs" c="dimmed">
          The first {bytes(PREVIEW_BYTES)} of {bytes(entry.bytes)}.
        </Text>
      )}
    </Stack>
  );
}

function TableContent({ rows }: { rows: string[][] }) {
  const [head = [], ...body] = rows;
  return (
    <>
      <DataTable
        label="Rows of the file"
        frameClass={classes.rows}
        verticalSpacing={2}
        fz="xs"
        stickyHeader
        rows={body}
        rowKey={(_, number) => number}
        columns={head.map((title, column) => ({ title, cell: (row: string[]) => row[column] }))}
      />
      {body.length === MOST_ROWS && (
        <Text size="xs" c="dimmed">
          The first {MOST_ROWS} rows.
        </Text>
      )}
    </>
  );
}

/** Return JSON with indentation, or the text itself if it is not valid. */
function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
