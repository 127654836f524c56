export default function WorkersPage() {
  return null;
}
