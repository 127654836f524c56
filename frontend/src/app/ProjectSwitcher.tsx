import { Anchor, Combobox, Paper, Text, UnstyledButton, useCombobox } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconFolder, IconPlus, IconSelector, IconSettings } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useNavigate } from "react-router";
import { isSameProject, projectsQuery } from "@/api/projects";
import type { ProjectSummary } from "@/api/types";
import {
  projectAddress,
  useChooseProject,
  useCurrentProject,
  useProjectInUrl,
  useShowsProject,
} from "@/ui/currentProject";
import { lazyPart } from "@/ui/lazyPart";
import { plural } from "@/ui/format";
import warningClasses from "@/ui/Warning.module.css";
import classes from "./ProjectSwitcher.module.css";

const NewProjectModal = lazyPart(() =>
  import("@/run-actions/NewProjectModal").then((module) => module.NewProjectModal),
);

/** Values of the options that are not projects. No name of a project starts with a space. */
const ALL = " all";
const NEW = " new";
const MANAGE = " manage";

/** Search from this number of projects. */
const MIN_SEARCHED = 6;

/** Button with the current project, and a list to choose another one. */
export function ProjectSwitcher() {
  useProjectInUrl();
  const current = useCurrentProject();
  const choose = useChooseProject();
  const navigate = useNavigate();
  const { data: projects = [] } = useQuery(projectsQuery);
  const [text, setText] = useState("");
  const [isNewOpen, newDialog] = useDisclosure(false);
  const combobox = useCombobox({
    onDropdownClose: () => {
      combobox.resetSelectedOption();
      combobox.focusTarget();
      setText("");
    },
    onDropdownOpen: () => projects.length >= MIN_SEARCHED && combobox.focusSearchInput(),
  });
  const found = projects.filter(({ name }) => name.toLowerCase().includes(text.trim().toLowerCase()));

  function submit(value: string) {
    combobox.closeDropdown();
    if (value === NEW) newDialog.open();
    else if (value === MANAGE) void navigate("/projects");
    else choose(value === ALL ? null : value);
  }

  return (
    <>
      <Combobox
        store={combobox}
        position="bottom-start"
        width={280}
        shadow="md"
        keepMounted={false}
        onOptionSubmit={submit}
      >
        <Combobox.Target targetType="button" withExpandedAttribute>
          <UnstyledButton
            className={classes.button}
            aria-label={`Project: ${current ?? "all projects"}`}
            onClick={() => combobox.toggleDropdown()}
          >
            <IconFolder size={16} stroke={1.75} className={classes.icon} aria-hidden />
            <span className={classes.name}>{current ?? "All projects"}</span>
            <IconSelector size={14} className={classes.icon} aria-hidden />
          </UnstyledButton>
        </Combobox.Target>
        <Combobox.Dropdown>
          {projects.length >= MIN_SEARCHED && (
            <Combobox.Search
              aria-label="Search projects"
              placeholder="Search projects"
              value={text}
              onChange={(event) => {
                setText(event.currentTarget.value);
                combobox.resetSelectedOption();
              }}
            />
          )}
          <Combobox.Options mah={320} style={{ overflowY: "auto" }} aria-label="Projects">
            {text === "" && (
              <Combobox.Option
                value={ALL}
                active={current === null}
                aria-selected={current === null}
                className={classes.option}
              >
                <span className={classes.name}>All projects</span>{" "}
                <Count runs={projects.reduce((sum, { runs }) => sum + runs, 0)} />
              </Combobox.Option>
            )}
            {found.map((project) => (
              <ProjectOption key={project.id} project={project} current={current} />
            ))}
            {found.length === 0 && <Combobox.Empty>No such project</Combobox.Empty>}
            <div className={classes.actions}>
              <Combobox.Option value={NEW} className={classes.option}>
                <IconPlus size={14} aria-hidden />
                <span className={classes.name}>New project…</span>
              </Combobox.Option>
              <Combobox.Option value={MANAGE} className={classes.option}>
                <IconSettings size={14} aria-hidden />
                <span className={classes.name}>Manage projects</span>
              </Combobox.Option>
            </div>
          </Combobox.Options>
        </Combobox.Dropdown>
      </Combobox>
      <NewProjectModal
        opened={isNewOpen}
        onClose={newDialog.close}
        onCreated={({ name }) => void navigate(projectAddress(name))}
      />
    </>
  );
}

function ProjectOption({ project, current }: { project: ProjectSummary; current: string | null }) {
  const isCurrent = current !== null && isSameProject(project.name, current);
  return (
    <Combobox.Option
      value={project.name}
      active={isCurrent}
      aria-selected={isCurrent}
      className={classes.option}
    >
      <span className={classes.name}>{project.name}</span> <Count runs={project.runs} />
    </Combobox.Option>
  );
}

function Count({ runs }: { runs: number }) {
  return (
    <Text component="span" size="xs" c="dimmed">
      {plural(runs, "run")}
    </Text>
  );
}

/** Notice that the current project does not exist. Another user may have renamed or deleted it. */
export function UnknownProject() {
  const current = useCurrentProject();
  const choose = useChooseProject();
  const { data: projects } = useQuery(projectsQuery);
  const shows = useShowsProject();
  const isKnown = !projects || projects.some(({ name }) => isSameProject(name, current ?? ""));
  if (current === null || !shows || isKnown) return null;
  return (
    <Paper withBorder p="sm" m="md" role="status" className={warningClasses.warning}>
      <Text size="sm" fw={600}>
        There is no project “{current}”
      </Text>
      <Text size="sm">
        It may have been renamed, merged or deleted, or you have no role in it.{" "}
        <Anchor component="button" inherit onClick={() => choose(null)}>
          Show all projects
        </Anchor>
      </Text>
    </Paper>
  );
}
