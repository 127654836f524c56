import { Anchor, Breadcrumbs, Button, Text, Title } from "@mantine/core";
import { IconExternalLink, IconFile, IconFolder } from "@tabler/icons-react";
import { useState } from "react";
import { Link, useSearchParams } from "react-router";
import type { ArtifactVersionDetails } from "@/api/artifacts";
import { bytes, exact, plural } from "@/ui/format";
import classes from "./artifacts.module.css";
import { FilePreview } from "./FilePreview";
import { listFolder } from "./fileTree";

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
