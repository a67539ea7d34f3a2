import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Sql } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { isUuid } from '../../../platform/ids.ts';
import type { RateCategory } from '../../../platform/operation.ts';
import { refuse } from '../../../platform/refusal.ts';
import { OUT_OF_RANGE } from '../../../platform/schema/fields.ts';

/** Requests per second by category; null uses the service's setting. */
export type RateLimits = Record<RateCategory, number | null>;

/** The highest limit: far above what one deployment answers, within the column's type. */
const MOST_PER_SECOND = 1_000_000;

/**
 * Gives an organization limits of its own; categories that are left out stay. An operator's command; its caller
 * announces the change (`keyChangesChannel`) once it is done. Rule: rate-limits.md#categories.
 *
 * @returns the limits as they are then
 * @throws Refusal 404 organization; 422 of the category: value_is_out_of_range, unless 1 to 1 000 000
 */
export async function setRateLimits(
  { db: sql, organizationId }: Scope<Sql>,
  changes: Partial<RateLimits>,
): Promise<RateLimits> {
  const wrong = Object.entries(changes).filter(([, limit]) => limit !== null && !isLimit(limit));
  if (wrong.length > 0) throw refuse.invalid(Object.fromEntries(wrong.map(([category]) => [category, [OUT_OF_RANGE]])));
  if (!isUuid(organizationId)) throw refuse.notFound('organization');
  return sql.begin(async (tx) => {
    const [former] = await tx<RateLimits[]>`
      select rate_limit_events as events, rate_limit_events_bulk as events_bulk, rate_limit_access as access,
        rate_limit_current_usage as current_usage, rate_limit_budgets as budgets, rate_limit_default as default
      from organizations where id = ${organizationId} for no key update`;
    if (!former) throw refuse.notFound('organization');
    const limits = { ...former, ...changes };
    await tx`
      update organizations set rate_limit_events = ${limits.events}, rate_limit_events_bulk = ${limits.events_bulk},
        rate_limit_access = ${limits.access}, rate_limit_current_usage = ${limits.current_usage},
        rate_limit_budgets = ${limits.budgets}, rate_limit_default = ${limits.default}, updated_at = ${realNow()}
      where id = ${organizationId}`;
    return limits;
  });
}

const isLimit = (limit: number): boolean => Number.isInteger(limit) && limit >= 1 && limit <= MOST_PER_SECOND;
