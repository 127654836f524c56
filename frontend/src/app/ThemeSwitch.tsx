import { ActionIcon, Menu, Tooltip, useMantineColorScheme, type MantineColorScheme } from "@mantine/core";
import {
  IconCheck,
  IconDeviceDesktop,
  IconMoon,
  IconSettings,
  IconSparkles,
  IconSun,
} from "@tabler/icons-react";
import { Link } from "react-router";

const CHOICES: { scheme: MantineColorScheme; name: string; Icon: typeof IconSun }[] = [
  { scheme: "auto", name: "System", Icon: IconDeviceDesktop },
  { scheme: "light", name: "Light", Icon: IconSun },
  { scheme: "dark", name: "Dark", Icon: IconMoon },
];

/** Menu of the theme, with the settings and the examples where no account has them in its menu. */
export function ThemeSwitch({ hasSettings }: { hasSettings: boolean }) {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const { Icon } = CHOICES.find(({ scheme }) => scheme === colorScheme) ?? { Icon: IconDeviceDesktop };
  return (
    <Menu>
      <Menu.Target>
        <Tooltip label={hasSettings ? "Theme, settings and examples" : "Theme"}>
          <ActionIcon size={32} aria-label="Theme">
            <Icon size={18} stroke={1.75} />
          </ActionIcon>
        </Tooltip>
      </Menu.Target>
      <Menu.Dropdown>
        {CHOICES.map(({ scheme, name, Icon: Sign }) => (
          <Menu.Item
            key={scheme}
            leftSection={<Sign size={16} />}
            rightSection={scheme === colorScheme && <IconCheck size={16} aria-label="chosen" />}
            onClick={() => setColorScheme(scheme)}
          >
            {name}
          </Menu.Item>
        ))}
        {hasSettings && (
          <>
            <Menu.Divider />
            <Menu.Item component={Link} to="/settings" leftSection={<IconSettings size={16} />}>
              Settings
            </Menu.Item>
            <Menu.Item component={Link} to="/examples" leftSection={<IconSparkles size={16} />}>
              Examples
            </Menu.Item>
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
