import { describe, expect, it } from "vitest";
import { rolesOn } from "@/testing/runs";
import { describePlaces, formatRanges, groupByHost } from "./RolesCard";

describe("roles by host", () => {
  it("names each kind once, with number ranges", () => {
    const places = [
      ...rolesOn("sun (10.0.0.1)", "shard", [0]),
      ...rolesOn("moon (10.0.0.2)", "shard", [1]),
      ...rolesOn("sun (10.0.0.1)", "bundle", [0, 2, 1]),
    ];
    expect(groupByHost(places)).toEqual([
      { host: "moon (10.0.0.2)", roles: [{ name: "Parameter shard", numbers: "1" }], replaced: [] },
      {
        host: "sun (10.0.0.1)",
        roles: [
          { name: "Parameter shard", numbers: "0" },
          { name: "Bundles", numbers: "0–2" },
        ],
        replaced: [],
      },
    ]);
  });

  it("groups replacements by kind and count", () => {
    const places = [
      ...rolesOn("sun", "bundle", [0, 1, 2], 1),
      ...rolesOn("sun", "bundle", [3], 2),
      ...rolesOn("sun", "bundle", [4]),
      ...rolesOn("sun", "replay", [0], 3),
    ];
    expect(groupByHost(places)[0]?.replaced).toEqual([
      "bundles 0–2 once",
      "bundle 3 twice",
      "replay shard 0 3 times",
    ]);
  });

  it("sorts hosts naturally and shortens many roles", () => {
    const hosts = Array.from({ length: 10 }, (_, host) => `node-${host + 1}`);
    const places = hosts.flatMap((host, index) => [
      ...rolesOn(host, "shard", [index, index + 10, index + 20]),
      ...rolesOn(
        host,
        "bundle",
        Array.from({ length: 10 }, (_, number) => index * 10 + number),
      ),
    ]);
    const shown = groupByHost(places);
    expect(shown.map(({ host }) => host)).toEqual(hosts);
    expect(shown[9]?.roles).toEqual([
      { name: "Parameter shards", numbers: "9, 19, 29" },
      { name: "Bundles", numbers: "90–99" },
    ]);
  });
});

it("joins consecutive numbers into ranges", () => {
  expect(formatRanges([5, 0, 1, 8, 2, 7])).toBe("0–2, 5, 7–8");
  expect(formatRanges([10, 9])).toBe("9–10");
});

it("uses the past tense for a run that is not running", () => {
  const places = rolesOn("sun", "bundle", [0, 1]);
  expect(describePlaces(places, 1, true)).toBe("2 roles on 1 host");
  expect(describePlaces(places, 1, false)).toBe("2 roles were last on 1 host");
});
