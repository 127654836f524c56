import {
  Alert,
  Anchor,
  Button,
  Group,
  Skeleton,
  Stack,
  Text,
  TextInput,
  Title,
  VisuallyHidden,
} from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { Link, useNavigate, useParams, useSearchParams } from "react-router";
import { archiveAddress } from "@/api/archives";
import { address } from "@/api/client";
import { reportQuery, SIGNED_IN_SOURCE, useDeleteReport, useIsSaving, useShareReport } from "@/api/reports";
import type { Report } from "@/api/types";
import { MoveModal } from "@/run-actions/MoveModal";
import { ConfirmModal } from "@/ui/ConfirmModal";
import { notifyDone } from "@/ui/notify";
import { QueryError } from "@/ui/QueryError";
import { useCatchFocus } from "@/ui/useCatchFocus";
import { copyText } from "@/ui/useCopy";
import { usePageTitle } from "@/ui/usePageTitle";
import { BlockView, DraftView } from "./BlockView";
import { forget, readKept, textOf } from "./draft";
import { ReportEditor } from "./ReportEditor";
import { useNewReport } from "./useNewReport";
import { useReportDraft } from "./useReportDraft";
import classes from "./reports.module.css";

/** Page to read or edit a report, or `/reports/new`, which creates one. */
export default function ReportPage() {
  const { id = "" } = useParams();
  if (id === "new") return <NewReport />;
  return /^\d+$/.test(id) ? <ExistingReport id={Number(id)} /> : <NoReport id={id} />;
}

/** Message for an address that is not the number of a report. */
function NoReport({ id }: { id: string }) {
  usePageTitle("Report not found");
  return (
    <Stack className={classes.sheet} gap="md">
      <Title order={1}>Report not found</Title>
      <Text size="sm">
        “{id}” is not the number of a report.{" "}
        <Anchor component={Link} to="/reports" size="sm">
          All reports
        </Anchor>
      </Text>
    </Stack>
  );
}

/** Creates a report and opens it. */
function NewReport() {
  const begin = useNewReport({ replace: true });
  const isBegun = useRef(false);
  useEffect(() => {
    // Once, also where React runs effects twice.
    if (!isBegun.current) begin.start();
    isBegun.current = true;
  });
  return (
    <Stack className={classes.sheet} gap="md">
      <Title order={1}>New report</Title>
      {begin.error ? (
        <QueryError error={begin.error} retry={begin.start} />
      ) : (
        <Skeleton height={320} radius="sm" role="status" aria-label="Creating the report…" />
      )}
    </Stack>
  );
}

function ExistingReport({ id }: { id: number }) {
  const report = useQuery(reportQuery(id));
  usePageTitle(report.data?.title ?? "Report");
  return (
    <Stack className={classes.sheet} gap="md">
      <Anchor component={Link} to="/reports" size="sm" w="fit-content">
        All reports
      </Anchor>
      {report.isError && !report.data && (
        <>
          <Title order={1}>Report {id}</Title>
          <QueryError error={report.error} retry={() => void report.refetch()} />
        </>
      )}
      {report.isPending && (
        <>
          <Title order={1}>Report {id}</Title>
          <Skeleton height={320} radius="sm" role="status" aria-label="Loading the report…" />
        </>
      )}
      {report.data && <ReportSheet key={id} report={report.data} refetch={report.refetch} />}
    </Stack>
  );
}

function ReportSheet({ report, refetch }: { report: Report; refetch: () => Promise<unknown> }) {
  const [params, setParams] = useSearchParams();
  const [begun, setBegun] = useState(0);
  const editing = report.may_edit && params.get("edit") === "1";
  const saving = useIsSaving(report.id);
  // A draft lives as long as the page. It starts when pending saves of a previous page are done.
  const [writing, setWriting] = useState(false);
  if (editing && !writing && !saving) setWriting(true);
  const toggle = useCatchFocus<HTMLButtonElement>(editing);
  const edit = () => setParams({ edit: "1" }, { replace: true });
  const discard = () => {
    forget(report.id);
    void refetch().then(() => setBegun(begun + 1));
  };
  return (
    <>
      <Group gap="xs">
        {report.may_edit && (
          <Button
            ref={toggle}
            h={32}
            px="sm"
            onClick={() => (editing ? setParams({}, { replace: true }) : edit())}
          >
            {editing ? "Read" : "Edit"}
          </Button>
        )}
        <Button
          component="a"
          href={address(`/reports/${report.id}/export`)}
          download
          variant="default"
          h={32}
          px="sm"
        >
          Export HTML
        </Button>
        <Button
          component="a"
          href={archiveAddress({ reports: [report.id] })}
          download
          variant="default"
          h={32}
          px="sm"
          title="Save the report and the runs that it shows as one archive file"
        >
          Export archive
        </Button>
        {report.may_edit && (
          <>
            <MoveReport report={report} />
            <DeleteReport report={report} />
            <SharePanel report={report} />
          </>
        )}
      </Group>
      {writing ? (
        <Drafted key={begun} report={report} editing={editing} edit={edit} discard={discard} />
      ) : (
        <>
          <KeptNotice report={report} saving={saving} edit={edit} />
          <Reading report={report} />
        </>
      )}
    </>
  );
}

interface DraftedProps {
  report: Report;
  editing: boolean;
  edit: () => void;
  discard: () => void;
}

/** Report with a draft, which is still saved while the report is read. */
function Drafted({ report, editing, edit, discard }: DraftedProps) {
  const draft = useReportDraft(report, editing);
  if (editing)
    return (
      <>
        <VisuallyHidden component="h1">Edit {draft.title}</VisuallyHidden>
        <ReportEditor report={report} draft={draft} discard={discard} />
      </>
    );
  return (
    <>
      {!draft.saved && <UnsavedNote words={draft.state} held={draft.held} edit={edit} />}
      <Reading report={report} />
    </>
  );
}

/** Note that the browser stores a draft of this report. */
function KeptNotice({ report, saving, edit }: { report: Report; saving: boolean; edit: () => void }) {
  const kept = readKept(report.id);
  if (saving) return <UnsavedNote words="Saving…" held={false} edit={edit} />;
  if (!kept || textOf(kept) === textOf(report)) return null;
  return <UnsavedNote words="Unsaved changes" held edit={edit} />;
}

function Reading({ report }: { report: Report }) {
  return (
    <>
      <Title order={1} className={classes.block}>
        {report.title}
      </Title>
      {report.blocks.length === 0 && (
        <Text size="sm" c="dimmed">
          This report is empty.{report.may_edit && " Press “Edit” to add text, charts, tables and replays."}
        </Text>
      )}
      {report.blocks.map((block, place) =>
        block.kind === "draft" ? (
          <DraftView key={`${place} draft`} block={block} />
        ) : (
          <BlockView key={`${place} ${block.kind}`} source={SIGNED_IN_SOURCE} block={block} place={place} />
        ),
      )}
    </>
  );
}

function MoveReport({ report }: { report: Report }) {
  const [asked, setAsked] = useState(false);
  return (
    <>
      <Button variant="default" h={32} px="sm" onClick={() => setAsked(true)}>
        Move to project…
      </Button>
      <MoveModal
        opened={asked}
        items={{ reports: [report.id] }}
        subject="the report"
        from={report.project}
        onClose={() => setAsked(false)}
      />
    </>
  );
}

function DeleteReport({ report }: { report: Report }) {
  const [asked, setAsked] = useState(false);
  const remove = useDeleteReport(report.id);
  const navigate = useNavigate();
  const confirm = () =>
    remove.mutate(undefined, {
      onSuccess: () => {
        forget(report.id);
        void navigate("/reports");
      },
    });
  return (
    <>
      <Button variant="default" h={32} px="sm" onClick={() => setAsked(true)}>
        Delete
      </Button>
      <ConfirmModal
        opened={asked}
        title={`Delete “${report.title}”?`}
        action="Delete report"
        danger
        busy={remove.isPending}
        onConfirm={confirm}
        onClose={() => setAsked(false)}
      >
        <Text size="sm">
          This permanently deletes the report and its link. Its runs and replays are kept.
        </Text>
      </ConfirmModal>
    </>
  );
}

/** Buttons to create, copy and revoke the read-only link. */
function SharePanel({ report }: { report: Report }) {
  const share = useShareReport(report.id);
  const make = useCatchFocus<HTMLButtonElement>(report.share_token === null);
  const link = `${window.location.origin}/shared/reports/${report.share_token}`;
  async function copy() {
    if (await copyText(link)) notifyDone("Link copied. It opens this report without a sign-in.");
  }
  if (report.share_token === null)
    return (
      <Button
        ref={make}
        variant="default"
        w="fit-content"
        h={32}
        px="sm"
        loading={share.isPending}
        onClick={() => share.mutate(true)}
      >
        Share link
      </Button>
    );
  return (
    <Group gap="xs" align="end" w="100%">
      <TextInput
        label="Read-only link"
        description="Anyone with this link can read this report without a sign-in."
        value={link}
        readOnly
        style={{ flex: 1, minWidth: 220 }}
        onFocus={(event) => event.currentTarget.select()}
      />
      <Button h={36} px="sm" onClick={() => void copy()}>
        Copy link
      </Button>
      <RevokeLink report={report} />
    </Group>
  );
}

function RevokeLink({ report }: { report: Report }) {
  const [asked, setAsked] = useState(false);
  const share = useShareReport(report.id);
  const close = () => setAsked(false);
  return (
    <>
      <Button variant="default" h={36} px="sm" onClick={() => setAsked(true)}>
        Revoke
      </Button>
      <ConfirmModal
        opened={asked}
        title="Revoke the link?"
        action="Revoke link"
        danger
        busy={share.isPending}
        onConfirm={() => share.mutate(false, { onSettled: close })}
        onClose={close}
      >
        <Text size="sm">The link stops working. You can create a new link later.</Text>
      </ConfirmModal>
    </>
  );
}

interface UnsavedNoteProps {
  /** Reason why the draft is not saved, or a note that it is being saved. */
  words: string;
  held: boolean;
  edit: () => void;
}

/** Note above a report that the last changes are not saved. */
function UnsavedNote({ words, held, edit }: UnsavedNoteProps) {
  if (!held)
    return (
      <span className={classes.state} role="status">
        {words}
      </span>
    );
  return (
    <Alert color="yellow" variant="light" title={words}>
      <Text size="sm">This is the last saved version.</Text>
      <Button size="xs" mt="xs" onClick={edit}>
        Continue editing
      </Button>
    </Alert>
  );
}
