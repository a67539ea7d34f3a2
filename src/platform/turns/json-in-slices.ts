import { mapInSlices, type Pause } from './turns.ts';

/** How many values are written in one piece: far less than a slice takes, so that there are few pieces. */
const VALUES_AT_ONCE = 1000;

/** The result of `JSON.stringify`, written in pieces with a pause after each. */
export async function jsonInSlices(value: unknown, pause: Pause | undefined): Promise<string> {
  if (isSmall(value)) return JSON.stringify(value);
  if (Array.isArray(value)) {
    const items = await mapInSlices(value, (item) => jsonInSlices(item ?? null, pause), pause);
    return `[${items.join(',')}]`;
  }
  const fields = Object.entries(value as object).filter(([, field]) => field !== undefined);
  const texts = await mapInSlices(
    fields,
    async ([name, field]) => `${JSON.stringify(name)}:${await jsonInSlices(field, pause)}`,
    pause,
  );
  return `{${texts.join(',')}}`;
}

/** Whether a value holds at most this many others, at any depth, or has its own `toJSON`. */
function isSmall(value: unknown): boolean {
  let left = VALUES_AT_ONCE;
  const count = (each: unknown): boolean => {
    left -= 1;
    if (left < 0) return false;
    if (typeof each !== 'object' || each === null || 'toJSON' in each) return true;
    for (const name in each) if (!count((each as Record<string, unknown>)[name])) return false;
    return true;
  };
  return count(value);
}
