import type { Config } from '../platform/config.ts';
import type { Sql } from '../platform/db/connect.ts';
import { whyNoStandbyFollows } from '../platform/db/synchronous-standby.ts';
import type { Log } from '../platform/log/log.ts';
import { within } from './answered-within.ts';

/** So often it is looked, a look takes two seconds at most: within five seconds writes are refused. */
const LOOK_EVERY_MS = 2500;
const NOT_LOOKED_AT = 'Postgres does not say whether a synchronous standby follows it';

/** Whether what is answered 200 is stored on a second server too. */
export interface StandbyWatch {
  /** Why writes and events are refused now; undefined when a synchronous standby follows, or none is asked for. */
  why(): string | undefined;
  close(): void;
}

const NOT_ASKED_FOR: StandbyWatch = { why: () => undefined, close: () => {} };

/**
 * With REQUIRE_SYNCHRONOUS_STANDBY looks every few seconds whether a synchronous standby follows the primary, for the
 * first time before anything is answered.
 *
 * Rule: several-hosts.md#synchronous-standby.
 */
export async function watchStandby(
  { sql, config, log }: { sql: Sql; config: Config; log: Log },
  lookEveryMs = LOOK_EVERY_MS,
): Promise<StandbyWatch> {
  if (!config.REQUIRE_SYNCHRONOUS_STANDBY) return NOT_ASKED_FOR;
  let why: string | undefined = NOT_LOOKED_AT;
  let isLooking = false;
  const look = async () => {
    if (isLooking) return;
    isLooking = true;
    const found = await within(whyNoStandbyFollows(sql).then((reason) => ({ reason })));
    isLooking = false;
    const reason = found === undefined ? NOT_LOOKED_AT : found.reason;
    if (reason !== undefined && why === undefined) log.error({ why: reason }, 'writes are refused');
    if (reason === undefined && why !== undefined) log.info('a synchronous standby follows: writes are taken');
    why = reason;
  };
  await look();
  if (why !== undefined) log.error({ why }, 'writes are refused');
  const timer = setInterval(() => void look(), lookEveryMs);
  timer.unref();
  return { why: () => why, close: () => clearInterval(timer) };
}
