import { describe, expect, it, vi } from "vitest";
import { correction, middleOf, pictureAt, Playhead } from "./clock";

describe("a picture and its time", () => {
  it.each([15, 20, 30, 60])("name each other at %i pictures a second", (rate) => {
    for (let picture = 0; picture < 20 * rate; picture += 1) {
      expect(pictureAt(middleOf(picture, rate), rate)).toBe(picture);
      // Browsers tell the beginning of a picture in whole microseconds.
      expect(pictureAt(Math.floor((picture / rate) * 1e6) / 1e6, rate)).toBe(picture);
    }
  });
});

describe("a player that is out of step", () => {
  const picture = 1 / 60;
  const steady = { picture, speed: 1, correcting: false };
  const correcting = { ...steady, correcting: true };

  it("is left alone while it is off by less than half a picture", () => {
    expect(correction(picture * 0.4, steady)).toBe(1);
    expect(correction(-picture * 0.4, steady)).toBe(1);
  });

  it("runs faster when it is late and slower when it is early, until it is nearly right", () => {
    expect(correction(picture * 0.6, steady)).toBeGreaterThan(1);
    expect(correction(-picture * 0.6, steady)).toBeLessThan(1);
    expect(correction(picture * 0.3, correcting)).toBeGreaterThan(1);
    expect(correction(picture * 0.1, correcting)).toBe(1);
  });

  it("jumps when it is far off", () => {
    expect(correction(0.6, steady)).toBe("seek");
    expect(correction(-0.6, correcting)).toBe("seek");
  });

  it.each([
    { speed: 1, look: 0.033, looks: 60 },
    { speed: 4, look: 0.033, looks: 60 },
    // A page that gets little of the processor looks seldom.
    { speed: 4, look: 0.3, looks: 10 },
  ])(
    "comes within a picture and stays, at speed $speed with a look each $look s",
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

it("tells watchers of a move, and of none when nothing moved", () => {
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
