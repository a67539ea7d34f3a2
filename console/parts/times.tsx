const LOCALE = globalThis.navigator?.language ?? 'en';
const DAY = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium', timeZone: 'UTC' });
const INSTANT = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium', timeStyle: 'short' });
const INSTANT_UTC = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium', timeStyle: 'medium', timeZone: 'UTC' });
const RELATIVE = new Intl.RelativeTimeFormat(LOCALE, { numeric: 'auto', style: 'short' });

/** A business date, as the API gives it, which no line breaks. */
export const day = (date: string | null | undefined): string =>
  date ? DAY.format(new Date(`${date.slice(0, 10)}T00:00:00Z`)).replaceAll(' ', '\u00a0') : '–';

/** An instant in the browser's time; pointing at it shows UTC. */
export function When({ at }: { at: string | null | undefined }) {
  if (!at) return <span class="soft">–</span>;
  const time = new Date(at);
  return (
    <time dateTime={at} title={`${INSTANT_UTC.format(time)} UTC`}>
      {INSTANT.format(time)}
    </time>
  );
}

const STEPS: [unit: Intl.RelativeTimeFormatUnit, seconds: number][] = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
];

/** How long ago, of instants of real time; the instant itself beyond a week. */
export function Ago({ at }: { at: string | null | undefined }) {
  if (!at) return <span class="soft">–</span>;
  const seconds = (new Date(at).getTime() - Date.now()) / 1000;
  const [unit, size] = STEPS.find(([, each]) => Math.abs(seconds) >= each) ?? ['second', 1];
  if (Math.abs(seconds) > 7 * 86_400) return <When at={at} />;
  return (
    <time dateTime={at} title={`${INSTANT_UTC.format(new Date(at))} UTC`}>
      {RELATIVE.format(Math.trunc(seconds / size), unit)}
    </time>
  );
}
