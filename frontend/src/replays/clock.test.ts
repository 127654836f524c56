import { describe, expect, it, vi } from "vitest";
import { correction, middleOf, pictureAt, Playhead } from "./clock";

describe("pictureAt", () => {
  it.each([15, 20, 30, 60])("finds a picture by its middle and its start at %i per second", (rate) => {
    for (let picture = 0; picture < 20 * rate; picture += 1) {
      expect(pictureAt(middleOf(picture, rate), rate)).toBe(picture);
      // Browsers report the start of a picture in whole microseconds.
      expect(pictureAt(Math.floor((picture / rate) * 1e6) / 1e6, rate)).toBe(picture);
    }
  });
});

describe("a player that is out of sync", () => {
  const picture = 1 / 60;
  const steady = { picture, speed: 1, correcting: false };
  const correcting = { ...steady, correcting: true };

  it("keeps its rate if it is off by less than half a picture", () => {
    expect(correction(picture * 0.4, steady)).toBe(1);
    expect(correction(-picture * 0.4, steady)).toBe(1);
  });

  it("plays faster if it is late and slower if it is early, until it is almost in sync", () => {
    expect(correction(picture * 0.6, steady)).toBeGreaterThan(1);
    expect(correction(-picture * 0.6, steady)).toBeLessThan(1);
    expect(correction(picture * 0.3, correcting)).toBeGreaterThan(1);
    expect(correction(picture * 0.1, correcting)).toBe(1);
  });

  it("seeks if it is far off", () => {
    expect(correction(0.6, steady)).toBe("seek");
    expect(correction(-0.6, correcting)).toBe("seek");
  });

  it.each([
    { speed: 1, look: 0.033, looks: 60 },
    { speed: 4, look: 0.033, looks: 60 },
    // A page that gets little processor time checks rarely.
    { speed: 4, look: 0.3, looks: 10 },
  ])(
    "comes within a picture and stays there, at speed $speed with a check every $look s",
    ({ speed, look, looks }) => {
      for (const start of [0.3, 0.1, 0.03, -0.03, -0.3]) {
        let [late, correcting] = [start, false];
        for (let looked = 0; looked < 3 * looks; looked += 1) {
          const rate = correction(late, { picture, speed, correcting }) as number;
          correcting = rate !== 1;
          late -= (rate - 1) * speed * look;
          if (looked > looks) expect(Math.abs(late)).toBeLessThan(picture);
        }
        expect(correcting).toBe(false);
      }
    },
  );
});

it("notifies subscribers only if the position changes", () => {
  const head = new Playhead();
  const listener = vi.fn();
  const unwatch = head.watch(listener);
  head.move(1);
  head.move(1);
  expect(listener).toHaveBeenCalledTimes(1);
  unwatch();
  head.move(2);
  expect(listener).toHaveBeenCalledTimes(1);
});
