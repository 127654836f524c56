/** Run numbers as users type them. */

/** Maximum length of a range, so that a typo cannot select a million runs. */
const MAX_RANGE = 1000;

/** Return the numbers in a text such as "1, 2 7-12", each once and in order. Ignore other words. */
export function parseRunNumbers(text: string): number[] {
  return [...new Set(text.split(/[\s,]+/).flatMap(numbersOfWord))];
}

function numbersOfWord(word: string): number[] {
  const [, first, last] = /^(\d{1,15})(?:[-–](\d{1,15}))?$/.exec(word) ?? [];
  if (first === undefined) return [];
  const from = Number(first);
  const length = Number(last ?? first) - from + 1;
  if (from < 1 || length < 1 || length > MAX_RANGE) return [];
  return Array.from({ length }, (_, at) => from + at);
}

/** Names of files list at most this many runs. */
const MAX_IN_FILE_NAME = 8;

/** Return runs as a part of a file name: "runs-3-4", or "50-runs". */
export function runsInFileName(numbers: readonly number[]): string {
  return numbers.length > MAX_IN_FILE_NAME ? `${numbers.length}-runs` : `runs-${numbers.join("-")}`;
}

/** Return numbers as text for a URL, with ranges: "1,2,7-12". Their order is kept. */
export function writeRunNumbers(numbers: readonly number[]): string {
  const ranges: [first: number, last: number][] = [];
  for (const number of numbers) {
    const range = ranges.at(-1);
    if (range && number === range[1] + 1 && number - range[0] < MAX_RANGE) range[1] = number;
    else ranges.push([number, number]);
  }
  return ranges
    .map(([first, last]) => (first === last ? first : `${first}${last === first + 1 ? "," : "-"}${last}`))
    .join(",");
}
