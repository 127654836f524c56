import { expect, it } from "vitest";
import { anEnvironment } from "@/testing/environments";
import { environmentChoices } from "./environmentChoices";

const known = [
  anEnvironment("CartPole-v1"),
  anEnvironment("Catch"),
  anEnvironment("Pong", { group: "Atari" }),
  anEnvironment("Pendulum-v1", { title: "Pendulum" }),
];

it("groups environments, keeps ids searchable and explains disabled environments", () => {
  expect(environmentChoices(["CartPole-v1", "Pong", "New-v0"], known, "PAAC")).toEqual([
    { group: "Small", items: [{ value: "CartPole-v1", label: "CartPole · CartPole-v1" }] },
    { group: "Atari", items: [{ value: "Pong", label: "Pong · Pong" }] },
    { group: "Environments", items: [{ value: "New-v0", label: "New-v0" }] },
    {
      group: "Not for PAAC: its actions are continuous",
      items: [
        { value: "Catch", label: "Catch · Catch", disabled: true },
        { value: "Pendulum-v1", label: "Pendulum · Pendulum-v1", disabled: true },
      ],
    },
  ]);
});
