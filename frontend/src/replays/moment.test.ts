import { expect, it } from "vitest";
import { middleOf, pictureAt } from "./clock";
import { momentOf, withMoment, without } from "./moment";

it("is read from the URL as the same picture", () => {
  for (let picture = 0; picture < 18_000; picture += 7) {
    const address = withMoment(new URLSearchParams(), [1], middleOf(picture, 60));
    expect(pictureAt(momentOf(address) ?? NaN, 60)).toBe(picture);
  }
});

it("names the replays and keeps other parameters", () => {
  const address = withMoment(new URLSearchParams("smoothing=0.2&replays=newest&t=3"), [4, 7], 12.4);
  expect(String(address)).toBe("smoothing=0.2&replays=4%2C7&t=12.4");
  expect(String(without(address, "t"))).toBe("smoothing=0.2&replays=4%2C7");
});

it.each(["", "t=", "t=soon", "t=-3", "t=1e9", "t=Infinity"])("is null in %j", (search) => {
  expect(momentOf(new URLSearchParams(search))).toBeNull();
});
