import type { Temporal } from 'temporal-polyfill';
import type { Db } from '../../../platform/db/connect.ts';
import { containsPattern } from '../../../platform/lists/filters.ts';
import { limitOf, type Page } from '../../../platform/lists/pagination.ts';
import { refuse } from '../../../platform/refusal.ts';

export interface PricingUnitRow {
  id: string;
  code: string;
  name: string;
  short_name: string;
  description: string | null;
  created_at: Temporal.Instant;
  updated_at: Temporal.Instant;
}

const columns = (db: Db) => db`id, code, name, short_name, description, created_at, updated_at`;

export async function findPricingUnit(
  db: Db,
  organizationId: string,
  code: string,
): Promise<PricingUnitRow | undefined> {
  const [row] = await db<PricingUnitRow[]>`
    select ${columns(db)} from pricing_units
    where organization_id = ${organizationId} and code = ${code} and deleted_at is null`;
  return row;
}

/** @throws Refusal 404 pricing_unit */
export async function getPricingUnit(db: Db, organizationId: string, code: string): Promise<PricingUnitRow> {
  const row = await findPricingUnit(db, organizationId, code);
  if (!row) throw refuse.notFound('pricing_unit');
  return row;
}

/**
 * As getPricingUnit, and until the transaction ends nobody else changes it or lets a charge use it.
 *
 * @throws Refusal 404 pricing_unit
 */
export async function lockPricingUnit(db: Db, organizationId: string, code: string): Promise<PricingUnitRow> {
  const [row] = await db<PricingUnitRow[]>`
    select ${columns(db)} from pricing_units
    where organization_id = ${organizationId} and code = ${code} and deleted_at is null
    for update`;
  if (!row) throw refuse.notFound('pricing_unit');
  return row;
}

/** The live pricing units among some codes, kept from being deleted until the transaction ends. */
export const lockPricingUnitsByCode = (db: Db, organizationId: string, codes: readonly string[]) =>
  db<PricingUnitRow[]>`
    select ${columns(db)} from pricing_units
    where organization_id = ${organizationId} and code = any (${codes}) and deleted_at is null
    for key share`;

const matching = (db: Db, organizationId: string, term: string | undefined) => db`
  organization_id = ${organizationId} and deleted_at is null
  ${term === undefined ? db`` : db`and (name ilike ${containsPattern(term)} or code ilike ${containsPattern(term)})`}`;

/** A page of pricing units by name, newest first among equal names, and their number. */
export async function listPricingUnits(
  db: Db,
  organizationId: string,
  term: string | undefined,
  page: Page,
): Promise<{ rows: PricingUnitRow[]; totalCount: number }> {
  const { limit, offset } = limitOf(page);
  const [rows, [count]] = await Promise.all([
    db<PricingUnitRow[]>`
      select ${columns(db)} from pricing_units where ${matching(db, organizationId, term)}
      order by name, created_at desc, id desc
      limit ${limit} offset ${offset}`,
    db<{ total: number }[]>`
      select count(*) as total from pricing_units where ${matching(db, organizationId, term)}`,
  ]);
  return { rows, totalCount: count!.total };
}

export async function isPricingUnitUsed(db: Db, organizationId: string, id: string): Promise<boolean> {
  const [row] = await db<{ found: boolean }[]>`
    select exists (
      select from charges where organization_id = ${organizationId} and pricing_unit_id = ${id} and deleted_at is null
    ) as found`;
  return row!.found;
}
