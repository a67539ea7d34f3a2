import { pino } from 'pino';
import type { OrganizationId } from '../ids.ts';
import { leaveOutRepeated } from './repeated-lines.ts';

export type Log = pino.Logger;

/** JSON log of one process. Keys and secrets are redacted; nothing logs whole bodies, nor rows of the database. */
export function createLog(options: { level: string; process: string }, to = destination()): Log {
  return pino(
    {
      level: options.level,
      base: { process: options.process },
      hooks: { logMethod: leaveOutRepeated() },
      serializers: { err: withoutRow },
      redact: {
        paths: ['*.authorization', '*.api_key', '*.hmac_key', '*.secret', 'req.headers.authorization'],
        censor: '[FILTERED]',
      },
    },
    to,
  );
}

/**
 * The log of work for one organization: every line names it, so that all that happened to a customer is found by one
 * word.
 */
export const ofOrganization = (log: Log, organizationId: OrganizationId): Log =>
  log.child({ organization_id: organizationId });

/** Begins what Postgres adds to an error of a row that breaks a rule: all values of the row follow. */
const ROW_OF_ERROR = /^Failing row contains/;

/** An error as pino writes it, without the row that it is about. */
function withoutRow(error: Error): object {
  const written = pino.stdSerializers.err(error) as { detail?: unknown };
  if (typeof written.detail === 'string' && ROW_OF_ERROR.test(written.detail)) delete written.detail;
  return written;
}

/** In a pm2 cluster only writes to `process.stdout` reach pm2, not writes to the file descriptor. */
const destination = (): pino.DestinationStream =>
  process.env.pm_id === undefined
    ? pino.destination({ sync: false, minLength: 0 })
    : { write: (line) => process.stdout.write(line) };
