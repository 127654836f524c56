import { ActionIcon, Menu, Text } from "@mantine/core";
import { IconDots, IconKeyOff, IconLink, IconLogout, IconShield, IconUserOff } from "@tabler/icons-react";
import { useState } from "react";
import { useCreateLink, useEditPerson, useRevokeTokensOf, useSignPersonOut } from "@/api/people";
import type { Invitation, Person } from "@/api/types";
import { ConfirmModal } from "@/ui/ConfirmModal";
import { MenuAction } from "@/ui/MenuAction";
import { notifyDone } from "@/ui/notify";

interface PersonMenuProps {
  person: Person;
  isYou: boolean;
  onInvitation: (invitation: Invitation) => void;
}

/** Menu of a person: a new link, sign out, administrator, and disable. */
export function PersonMenu({ person, isYou, onInvitation }: PersonMenuProps) {
  const [isDisabling, setDisabling] = useState(false);
  const link = useCreateLink();
  const signOut = useSignPersonOut();
  const revoke = useRevokeTokensOf();
  const edit = useEditPerson();
  return (
    <>
      <Menu width={256} position="bottom-end" keepMounted={false}>
        <Menu.Target>
          <ActionIcon size={32} aria-label={`Actions for ${person.name}`}>
            <IconDots size={18} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <MenuAction
            Icon={IconLink}
            label={person.has_password ? "New password link" : "New invitation link"}
            blocked={person.disabled ? "Enable the person first." : null}
            onClick={() => link.mutate(person.id, { onSuccess: onInvitation })}
          />
          <MenuAction
            Icon={IconLogout}
            label="Sign out everywhere"
            blocked={null}
            onClick={() =>
              signOut.mutate(person.id, { onSuccess: () => notifyDone(`${person.name} is signed out.`) })
            }
          />
          <MenuAction
            Icon={IconKeyOff}
            label="Revoke all tokens"
            blocked={null}
            onClick={() =>
              revoke.mutate(person.id, {
                onSuccess: () => notifyDone(`The tokens of ${person.name} are revoked.`),
              })
            }
          />
          <MenuAction
            Icon={IconShield}
            label={person.is_administrator ? "Remove as administrator" : "Make administrator"}
            blocked={null}
            onClick={() => edit.mutate({ id: person.id, is_administrator: !person.is_administrator })}
          />
          <MenuAction
            Icon={IconUserOff}
            label={person.disabled ? "Enable" : "Disable…"}
            blocked={isYou ? "Another administrator can disable you." : null}
            onClick={() =>
              person.disabled ? edit.mutate({ id: person.id, disabled: false }) : setDisabling(true)
            }
          />
        </Menu.Dropdown>
      </Menu>
      {isDisabling && (
        <ConfirmModal
          opened
          title={`Disable ${person.name}?`}
          action="Disable"
          danger
          busy={edit.isPending}
          onConfirm={() =>
            edit.mutate({ id: person.id, disabled: true }, { onSettled: () => setDisabling(false) })
          }
          onClose={() => setDisabling(false)}
        >
          <Text size="sm">
            {person.name} is signed out, and their tokens are revoked. Runs and the audit log keep the name.
          </Text>
        </ConfirmModal>
      )}
    </>
  );
}
