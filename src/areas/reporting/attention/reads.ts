import type { Temporal } from 'temporal-polyfill';
import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Context } from '../../../platform/context.ts';
import { seconds } from '../../../platform/schema/view.ts';
import { ATTENTION_KINDS, type AttentionKind, type Looked } from './kinds.ts';
import type { Attention } from './schema.ts';

/** How many records of a kind are counted. */
const MOST_COUNTED = 1000;

/**
 * What a person should look at, the most severe first: kinds that the key may read and that have records. One
 * statement, in which every kind reads at most a thousand and one records.
 *
 * Rule: console-reads.md#attention.
 */
export async function showAttention(ctx: Context): Promise<Attention> {
  const kinds = ATTENTION_KINDS.filter(({ permission }) => ctx.holds?.(permission, 'read') === true);
  if (kinds.length === 0) return { attention: [] };
  const counted = new Map((await countEach(ctx, kinds)).map((row) => [row.kind, row]));
  return {
    attention: kinds.flatMap(({ kind, severity, path, query }) => {
      const row = counted.get(kind);
      if (!row || row.count === 0 || row.since === null) return [];
      const count = Math.min(row.count, MOST_COUNTED);
      return [{ kind, severity, count, more: row.count > count, since: seconds(row.since), path, query }];
    }),
  };
}

interface Counted {
  kind: string;
  count: number;
  /** When the oldest counted record began to want attention. */
  since: Temporal.Instant | null;
}

function countEach(ctx: Context, kinds: readonly AttentionKind[]) {
  const { db, organizationId } = ctx;
  const looked: Looked = { db, organizationId, now: ctx.now(), realNow: realNow() };
  const arms = kinds.map(({ kind, rows }) => {
    const counts = kind === 'unmatched_events' ? db`sum(least(first.count, ${MOST_COUNTED + 1}))` : db`count(*)`;
    return db`
      select ${kind}::text as kind, coalesce(${counts}, 0)::bigint as count, min(first.since) as since
      from (select * from ${rows(looked)} every limit ${MOST_COUNTED + 1}) first`;
  });
  return db<Counted[]>`${arms.reduce((all, arm) => db`${all} union all ${arm}`)}`;
}
