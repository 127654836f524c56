import { useNavigate } from "react-router";
import { isSubmitted } from "@/api/mutationState";
import { useCreateReport } from "@/api/reports";
import { useUsualProject } from "@/ui/currentProject";

/** Create an empty report and open its editor. With `replace`, it takes the place of this page in the history. */
export function useNewReport({ replace = false } = {}) {
  const navigate = useNavigate();
  const create = useCreateReport();
  const usual = useUsualProject();
  const start = () =>
    create.mutate(
      { title: "New report", blocks: [], project: usual },
      { onSuccess: ({ id }) => void navigate(`/reports/${id}?edit=1`, { replace }) },
    );
  return { start, isPending: isSubmitted(create), error: create.error };
}
