import { pino } from 'pino';
import { leaveOutRepeated } from './repeated-lines.ts';

export type Log = pino.Logger;

/** JSON log of one process. Keys and secrets are redacted; nothing logs whole bodies. */
export function createLog(options: { level: string; process: string }): Log {
  return pino(
    {
      level: options.level,
      base: { process: options.process },
      hooks: { logMethod: leaveOutRepeated() },
      redact: {
        paths: ['*.authorization', '*.api_key', '*.hmac_key', '*.secret', 'req.headers.authorization'],
        censor: '[FILTERED]',
      },
    },
    destination(),
  );
}

/** pm2 takes what a cluster's copy writes to `process.stdout`, and nothing that goes to the descriptor past it. */
const destination = (): pino.DestinationStream =>
  process.env.pm_id === undefined
    ? pino.destination({ sync: false, minLength: 0 })
    : { write: (line) => process.stdout.write(line) };
