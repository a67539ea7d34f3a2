import type { pino } from 'pino';
import { realNowMs } from '../clock/real-clock.ts';

/** Lines of one kind that are written in full in a minute; the rest is counted. */
export const FULL_LINES_A_MINUTE = 5;
const MINUTE_MS = 60_000;
/** How many kinds are counted at the same time; lines of further kinds are always written. */
const MOST_KINDS = 1000;
const WARN = 40;

interface Kind {
  sinceMs: number;
  written: number;
  leftOut: number;
}

/**
 * Keeps a repeated error from filling the disk: of warnings and errors of one kind (same message and error apart from
 * numbers and ids) the first few a minute are written in full, and the first of a later minute states the number of
 * omitted ones as `left_out`.
 *
 * now  milliseconds of a clock
 */
export function leaveOutRepeated(now: () => number = realNowMs): NonNullable<pino.LoggerOptions['hooks']>['logMethod'] {
  const kinds = new Map<string, Kind>();
  return function (args, method, level) {
    if (level < WARN) return method.apply(this, args);
    const key = kindOf(args);
    const at = now();
    const kind = kinds.get(key);
    if (!kind || at - kind.sinceMs >= MINUTE_MS) {
      forgetOld(kinds, at);
      if (kind || kinds.size < MOST_KINDS) kinds.set(key, { sinceMs: at, written: 1, leftOut: 0 });
      return method.apply(this, kind?.leftOut ? saying(args, kind.leftOut) : args);
    }
    if (kind.written >= FULL_LINES_A_MINUTE) {
      kind.leftOut += 1;
      return;
    }
    kind.written += 1;
    return method.apply(this, args);
  };
}

type Args = Parameters<pino.LogFn>;

/** Message and error of a line; numbers and ids do not make another kind. */
function kindOf([first, second]: Args): string {
  if (typeof first === 'string') return first;
  const { err, error } = first as { err?: unknown; error?: unknown };
  const fault = err ?? error ?? first;
  const { message, code } = (typeof fault === 'object' ? fault : { message: fault }) as Record<string, unknown>;
  return `${second}|${code}|${String(message ?? '').replace(/[0-9a-f]*\d[0-9a-f-]*/gi, '#')}`;
}

/** The same line with the number of omitted lines before it. */
function saying([first, ...rest]: Args, leftOut: number): Args {
  const facts =
    typeof first === 'object' && first !== null && !(first instanceof Error)
      ? { ...first, left_out: leftOut }
      : { ...(first instanceof Error ? { err: first } : {}), left_out: leftOut };
  return [facts, ...(typeof first === 'string' ? [first] : []), ...rest] as unknown as Args;
}

// When the map is full, drops the kinds whose minute is over. How many of their lines were left out is then never
// logged.
function forgetOld(kinds: Map<string, Kind>, at: number): void {
  if (kinds.size < MOST_KINDS) return;
  for (const [key, kind] of kinds) if (at - kind.sinceMs >= MINUTE_MS) kinds.delete(key);
}
