import { EmptyState } from "@/ui/EmptyState";
import { usePageTitle } from "@/ui/usePageTitle";

/** Page in the tab in which a person has signed in at their provider again. */
export default function SignedInAgainPage() {
  usePageTitle("Signed in again");
  return (
    <EmptyState title="You have signed in again" alone>
      Close this tab. Your action continues in the first tab.
    </EmptyState>
  );
}
