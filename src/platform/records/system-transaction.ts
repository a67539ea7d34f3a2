import type { Temporal } from 'temporal-polyfill';
import { realNow } from '../clock/real-clock.ts';
import type { Config } from '../config.ts';
import type { Actor, Context } from '../context.ts';
import type { Sql, Tx } from '../db/connect.ts';
import type { OrganizationId } from '../ids.ts';
import { type Log, ofOrganization } from '../log/log.ts';
import type { Producer } from '../queue/producer.ts';
import type { Reactions } from '../reactions.ts';
import { emptyRecords, type Nudges, recorder, writeRecords } from './write-records.ts';

export interface SystemDeps {
  sql: Sql;
  config: Config;
  log: Log;
  reactions: Reactions;
  producer: Producer;
}

const SYSTEM: Actor = { source: 'system', apiKeyId: null };

/**
 * One transaction of the service itself. `present` runs first: it locks the test clock before anything else and returns
 * the organization's time; null ends the transaction without work. The records of the work are written last.
 *
 * @returns the jobs to nudge after the commit; null if there was nothing to do
 */
export async function systemTransaction(
  deps: SystemDeps,
  organization: { id: OrganizationId; sandbox: boolean },
  present: (tx: Tx) => Promise<Temporal.Instant | null>,
  work: (ctx: Context) => Promise<void>,
): Promise<Nudges | null> {
  return await deps.sql.begin(async (tx): Promise<Nudges | null> => {
    const now = await present(tx);
    if (now === null) return null;
    const records = emptyRecords();
    await work({
      organizationId: organization.id,
      sandbox: organization.sandbox,
      actor: SYSTEM,
      db: tx,
      config: deps.config,
      log: ofOrganization(deps.log, organization.id),
      reactions: deps.reactions,
      now: () => now,
      record: recorder(records),
      after: (owed) => records.owed.push(owed),
    });
    return writeRecords(
      tx,
      {
        organizationId: organization.id,
        sandbox: organization.sandbox,
        actor: SYSTEM,
        now,
        realNow: realNow(),
      },
      records,
    );
  });
}
