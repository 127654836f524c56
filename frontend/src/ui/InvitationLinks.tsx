import { Button, Group, Modal, Stack, Text, TextInput } from "@mantine/core";
import type { Invitation } from "@/api/types";
import { CopyText } from "./CopyText";
import { exactTime } from "./format";

interface InvitationLinksProps {
  invitations: readonly Invitation[];
  onClose: () => void;
}

/** Dialog with the one-time links of people, which are shown once. */
export function InvitationLinks({ invitations, onClose }: InvitationLinksProps) {
  const linked = invitations.flatMap(({ person, path, expires_at }) =>
    path === null ? [] : [{ person, link: window.location.origin + path, expires_at }],
  );
  const others = invitations.filter(({ path }) => path === null);
  const [first] = linked;
  const title =
    linked.length > 1
      ? `Links for ${linked.length} people`
      : first
        ? `Link for ${first.person.name}`
        : "No links";
  return (
    <Modal opened onClose={onClose} title={title} closeButtonProps={{ "aria-label": "Close" }}>
      <Stack gap="md">
        {first && (
          <Text size="sm">
            Send {linked.length === 1 ? "this link to its person. It" : "each link to its person. Each"} works
            once{first.expires_at && `, until ${exactTime(first.expires_at)}`}. Arcadia sends no e-mail, and
            does not show the {linked.length === 1 ? "link" : "links"} again.
          </Text>
        )}
        {linked.map(({ person, link }) => (
          <div key={person.id}>
            {linked.length > 1 && (
              <Text size="sm" fw={500} mb={4}>
                {person.name}
              </Text>
            )}
            <Group gap="xs" wrap="nowrap">
              <TextInput
                aria-label={`Link for ${person.name}`}
                value={link}
                readOnly
                style={{ flex: 1 }}
                styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
                onFocus={(event) => event.currentTarget.select()}
                data-autofocus={link === first?.link || undefined}
              />
              <CopyText label="Copy" text={link} />
            </Group>
          </div>
        ))}
        {others.length > 0 && (
          <Text size="sm">
            {others.map(({ person }) => person.name).join(", ")}{" "}
            {others.length === 1 ? "has an account" : "have accounts"} already, and can open the project now.
          </Text>
        )}
        <Group justify="flex-end" gap="xs">
          {linked.length > 1 && (
            <CopyText
              label="Copy all"
              text={linked.map(({ person, link }) => `${person.name}: ${link}`).join("\n")}
            />
          )}
          <Button onClick={onClose}>Done</Button>
        </Group>
      </Stack>
    </Modal>
  );
}
