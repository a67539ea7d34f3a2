import { createHash } from 'node:crypto';
import { refuse } from '../platform/refusal.ts';
import { isSealed } from '../platform/secrets/seal.ts';
import { answerPlace } from '../platform/secrets/secret-places.ts';
import { openText } from '../platform/secrets/secrets.ts';
import type { Command, CommandAnswer, CommandLaneDeps } from './command-lane.ts';
import { answeredInTime } from './database-in-time.ts';

// The caller has waited for the write timeout already.
const LOOK_UP_TIMEOUT_MS = 1000;

/**
 * The answer to a command whose reply did not come within the write timeout: the committed one if only the reply was
 * lost, else 504. The command may still run, at most once. Rule: everywhere.md#writes-are-jobs.
 *
 * @throws Refusal 504 write_pending
 */
export async function answerOrPending(
  { sql, config, keepPosition }: Pick<CommandLaneDeps, 'sql' | 'config' | 'keepPosition'>,
  command: Command,
  cid: string,
): Promise<CommandAnswer> {
  const scopeHash = command.idempotency
    ? Buffer.from(command.idempotency.scope_hash, 'hex')
    : createHash('sha256').update(`job|${command.organization_id}|${cid}`).digest();
  const look = sql<{ http_status: number; body: string; headers: Record<string, string> | null }[]>`
    select http_status, body, headers from idempotency_keys
    where organization_id = ${command.organization_id} and scope_hash = ${scopeHash} and request_id = ${command.request_id}
      and http_status is not null and not is_digest`;
  const [row] = await answeredInTime(look, LOOK_UP_TIMEOUT_MS).catch(() => []); // database away: still pending
  if (!row) throw refuse.writePending(command.request_id);
  await keepPosition?.(command.organization_id);
  const place = answerPlace(scopeHash);
  const body = isSealed(row.body) ? await openText({ db: sql, config }, row.body, place) : row.body;
  return { status: row.http_status, body, headers: row.headers ?? {} };
}
