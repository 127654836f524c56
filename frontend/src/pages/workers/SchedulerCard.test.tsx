import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it } from "vitest";
import { renderPage } from "@/testing/render";
import { serve } from "@/testing/server";
import { SchedulerCard } from "./SchedulerCard";

const FORM = {
  properties: {
    backend_url: { title: "Address of this server", type: "string" },
    prepare: { title: "Commands before the worker", type: "string", maxLength: 20_000, default: "" },
    cores: { title: "Cores", type: "integer", default: 2 },
  },
};

describe("the settings of a scheduler", () => {
  it.each([
    ["slurm", "Slurm"],
    ["ray", "Ray"],
  ] as const)("are a form that the schema of %s describes, with a test", async (name, title) => {
    const { asked } = serve({
      [`GET /executors/${name}`]: { settings: null, form: FORM },
      [`PUT /executors/${name}`]: { settings: null, form: FORM },
      [`POST /executors/${name}/check`]: {
        ok: false,
        message: "Job 4 ended as FAILED.",
        output: "no module",
      },
    });
    renderPage(<SchedulerCard name={name} />);
    await userEvent.click(await screen.findByText(`Set up ${title}`));
    await userEvent.type(screen.getByLabelText("Commands before the worker"), "module load arcadia");
    await userEvent.click(screen.getByText("Test with a job"));
    expect(await screen.findByText("Job 4 ended as FAILED.")).toBeTruthy();
    expect(screen.getByText("no module")).toBeTruthy();
    await userEvent.click(screen.getByText("Save settings"));
    expect(await screen.findByText("The settings are saved.")).toBeTruthy();
    const sent = { backend_url: window.location.origin, prepare: "module load arcadia", cores: 2 };
    expect(asked.filter(({ method }) => method !== "GET").map(({ body }) => body)).toEqual([sent, sent]);
  });
});
