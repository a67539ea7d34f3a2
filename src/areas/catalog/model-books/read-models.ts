import type { Kind } from '../../../engine/ai/kinds.ts';
import { bookedName, type ModelName, type NameFlag, undatedName } from '../../../engine/ai/rating/model-name.ts';
import type { Layer, PriceRow } from '../../../engine/ai/rating/price-row.ts';
import { type PriceTable, priceTable } from '../../../engine/ai/rating/price-table.ts';
import type { Decimal } from '../../../engine/money/decimal.ts';
import type { Db, Fragment } from '../../../platform/db/connect.ts';
import { isoText } from '../../../platform/db/iso-text.ts';
import type { OrganizationId } from '../../../platform/ids.ts';
import type { AskedModel } from './model-books.ts';

/** What the book says of a model as a call names it: under which name it has its prices, and these. */
export interface ModelBook extends ModelName {
  flag: NameFlag | null;
  table: PriceTable;
  /** Number of its prices. */
  size: number;
}

/**
 * The books of models, in their order: one statement for the prices of each name itself, of its alias and of the name
 * without a date.
 *
 * asOf  `version`: with the prices that held at the versions of the book, of exactly the names that are asked for,
 *   because aliases have no versions
 *
 * Rule: price-book.md#names.
 */
export async function readModels(
  db: Db,
  asked: readonly AskedModel[],
  { asOf = 'now' }: { asOf?: 'now' | 'version' } = {},
): Promise<ModelBook[]> {
  const rows = await listPrices(db, asked, asOf);
  const byNumber = new Map<number, LoadedPrice[]>();
  for (const row of rows)
    if (asOf === 'now' || row.via === 'name') byNumber.set(row.n, [...(byNumber.get(row.n) ?? []), row]);
  return asked.map(({ provider, model, book }, index) => {
    const own = byNumber.get(index + 1) ?? [];
    const alias = own.find(({ via }) => via === 'alias');
    const counted = own.filter(
      ({ id, layer }) => id !== null && (book.settings.usesDeployment || layer === 'organization'),
    );
    const isNamed = (name: ModelName) => (row: ModelName) => row.provider === name.provider && row.model === name.model;
    const name = bookedName({ provider, model }, alias && { provider: alias.provider, model: alias.model }, (each) =>
      counted.some(isNamed(each)),
    );
    const prices = counted.filter(isNamed(name)).map(priceOf);
    return { ...name, table: priceTable(prices), size: prices.length };
  });
}

/** A row of the book beside the name that led to it; `id` is null where an alias leads to a model without prices. */
interface LoadedPrice extends ModelName {
  n: number;
  via: 'name' | 'alias' | 'undated';
  id: string | null;
  layer: Layer;
  tier: string;
  kind: Kind;
  min_input_tokens: number;
  cost: Decimal;
  sell: Decimal | null;
  per: number;
  valid_from: string;
  book_version: number;
}

const priceOf = ({ n: _, via: __, provider: ___, model: ____, ...row }: LoadedPrice): PriceRow => ({
  ...row,
  id: row.id!,
});

function listPrices(db: Db, asked: readonly AskedModel[], asOf: 'now' | 'version') {
  const pricesOf = (organization: Fragment, layer: Layer) => {
    const version = layer === 'organization' ? db`asked.own_version` : db`asked.deployment_version`;
    return db`
    select id, ${layer}::text as layer, tier, kind, min_input_tokens, cost, sell, per,
      ${isoText(db, db`valid_from`)} as valid_from, book_version
    from price_entries
    where organization_id ${organization} and provider = name.provider and model = name.model
      and ${
        asOf === 'now'
          ? db`retracted_version is null`
          : db`book_version <= ${version} and (retracted_version is null or retracted_version > ${version})`
      }`;
  };
  return db<LoadedPrice[]>`
    with asked as materialized (
      select * from unnest(${asked.map(({ book }) => book.organizationId) as OrganizationId[]}::uuid[],
        ${asked.map(({ book }) => book.organization)}::bigint[], ${asked.map(({ book }) => book.deployment)}::bigint[],
        ${asked.map(({ provider }) => provider)}::text[], ${asked.map(({ model }) => model)}::text[],
        ${asked.map(({ model }) => undatedName(model))}::text[])
        with ordinality as asked (organization_id, own_version, deployment_version, provider, model, undated, n)
    ), alias as (
      select distinct on (n) n, coalesce(alias.target_provider, asked.provider) as provider,
        alias.target_model as model
      from asked
      join price_aliases alias on alias.organization_id = asked.organization_id and alias.provider = asked.provider
        and (alias.pattern = asked.model
          or (right(alias.pattern, 1) = '*' and starts_with(asked.model, left(alias.pattern, -1))))
      order by n, alias.pattern = asked.model desc, length(alias.pattern) desc
    ), name as materialized (
      select n, 'name' as via, provider, model from asked
      union all
      select n, 'alias', provider, model from alias
      union all
      select n, 'undated', provider, undated from asked where undated is not null
    )
    select name.n::int as n, name.via, name.provider, name.model, price.*
    from name
    join asked using (n)
    left join lateral (
      ${pricesOf(db`= asked.organization_id`, 'organization')}
      union all
      ${pricesOf(db`is null`, 'deployment')}
    ) price on true
    where price.id is not null or name.via = 'alias'`;
}
