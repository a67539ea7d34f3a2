import type { Context } from '../../../platform/context.ts';
import { pageMeta } from '../../../platform/lists/pagination.ts';
import { Answer } from '../../../platform/operation.ts';
import { seconds } from '../../../platform/schema/view.ts';
import { countUnmatched, listUnmatched, sumUnmatched } from './queries.ts';
import type { UnmatchedListQuery } from './schema.ts';
import { unmatchedText } from './view.ts';

/** Events that no charge takes, newest first. Rule: event-verdicts.md#unmatched-events. */
export async function showUnmatched(ctx: Context, { query }: { query: UnmatchedListQuery }): Promise<Answer> {
  const [rows, total] = await Promise.all([listUnmatched(ctx, query, query), countUnmatched(ctx, query)]);
  const meta = JSON.stringify(pageMeta(query, total));
  return new Answer(null, { json: `{"unmatched_events":[${rows.map(unmatchedText).join(',')}],"meta":${meta}}` });
}

/** Open events by reason and code, greatest count first. Rule: event-verdicts.md#unmatched-events. */
export async function showUnmatchedSummary(ctx: Context) {
  const sums = await sumUnmatched(ctx);
  return {
    unmatched_summary: sums.map((sum) => ({
      ...sum,
      first_seen_at: seconds(sum.first_seen_at),
      last_seen_at: seconds(sum.last_seen_at),
    })),
  };
}
