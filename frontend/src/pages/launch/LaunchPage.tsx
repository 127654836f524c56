export default function LaunchPage() {
  return null;
}
