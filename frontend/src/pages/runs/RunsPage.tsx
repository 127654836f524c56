export default function RunsPage() {
  return null;
}
