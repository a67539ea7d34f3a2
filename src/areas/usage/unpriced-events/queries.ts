import type { Temporal } from 'temporal-polyfill';
import type { ModelName } from '../../../engine/ai/rating/model-name.ts';
import type { Decimal } from '../../../engine/money/decimal.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { limitOf, type Page } from '../../../platform/lists/pagination.ts';

export interface UnknownModelRow extends ModelName {
  tier: string;
  missing_kinds: string[];
  events: number;
  tokens: Decimal;
  first_seen_at: Temporal.Instant;
  last_seen_at: Temporal.Instant;
}

/** A page of the models with calls that wait, most calls first, and how many there are. */
export async function listUnknownModels(
  { db, organizationId }: Scope,
  page: Page,
): Promise<{ rows: UnknownModelRow[]; totalCount: number }> {
  const { limit, offset } = limitOf(page);
  const [rows, [count]] = await Promise.all([
    db<UnknownModelRow[]>`
      select provider, model, tier, missing_kinds, events, tokens, first_seen_at, last_seen_at
      from ai_unpriced_models where organization_id = ${organizationId} and events > 0
      order by events desc, provider, model, tier limit ${limit} offset ${offset}`,
    db<{ total: number }[]>`
      select count(*) as total from ai_unpriced_models where organization_id = ${organizationId} and events > 0`,
  ]);
  return { rows, totalCount: count!.total };
}

/** How many names of the book are looked at for those that are near. */
const MOST_NAMES = 20_000;

/** Names of models that the book has prices of. */
export const listKnownNames = ({ db, organizationId }: Scope) => db<ModelName[]>`
  select distinct provider, model from price_entries
  where (organization_id = ${organizationId} or organization_id is null) and retracted_version is null
  limit ${MOST_NAMES}`;

/**
 * Closes the calls of a model that wait: they stay without an amount.
 *
 * @returns how many there were
 */
export async function ignoreModel({ db, organizationId }: Scope, { provider, model }: ModelName): Promise<number> {
  const closed = await db<{ count: number }[]>`
    with closed as (
      update ai_unpriced set status = 'ignored'
      where organization_id = ${organizationId} and provider = ${provider} and model = ${model} and status = 'open'
      returning 1
    ), counted as (
      update ai_unpriced_models set events = 0, tokens = 0
      where organization_id = ${organizationId} and provider = ${provider} and model = ${model}
    )
    select count(*) as count from closed`;
  return closed[0]!.count;
}
