import { ActionIcon, Menu, Tooltip, useMantineColorScheme, type MantineColorScheme } from "@mantine/core";
import { IconCheck, IconDeviceDesktop, IconMoon, IconSun } from "@tabler/icons-react";

const CHOICES: { scheme: MantineColorScheme; name: string; Icon: typeof IconSun }[] = [
  { scheme: "auto", name: "System", Icon: IconDeviceDesktop },
  { scheme: "light", name: "Light", Icon: IconSun },
  { scheme: "dark", name: "Dark", Icon: IconMoon },
];

export function ThemeSwitch() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const { Icon } = CHOICES.find(({ scheme }) => scheme === colorScheme) ?? { Icon: IconDeviceDesktop };
  return (
    <Menu>
      <Menu.Target>
        <Tooltip label="Theme">
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
      </Menu.Dropdown>
    </Menu>
  );
}
