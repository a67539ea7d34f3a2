import type { Temporal } from 'temporal-polyfill';
import type { Currency } from '../../../engine/money/currency.ts';
import type { Db } from '../../../platform/db/connect.ts';
import { limitOf, type Page } from '../../../platform/lists/pagination.ts';
import { refuse } from '../../../platform/refusal.ts';

export interface AddOnRow {
  id: string;
  code: string;
  name: string;
  invoice_display_name: string | null;
  description: string | null;
  amount_cents: number;
  amount_currency: Currency;
  created_at: Temporal.Instant;
}

const columns = (db: Db) => db`
  id, code, name, invoice_display_name, description, amount_cents, amount_currency, created_at`;

/** @throws Refusal 404 add_on */
export async function getAddOn(db: Db, organizationId: string, code: string): Promise<AddOnRow> {
  const [row] = await db<AddOnRow[]>`
    select ${columns(db)} from add_ons
    where organization_id = ${organizationId} and code = ${code} and deleted_at is null`;
  if (!row) throw refuse.notFound('add_on');
  return row;
}

/** As getAddOn, and nobody else changes it until the transaction ends. */
export async function lockAddOn(db: Db, organizationId: string, code: string): Promise<AddOnRow> {
  const [row] = await db<AddOnRow[]>`
    select ${columns(db)} from add_ons
    where organization_id = ${organizationId} and code = ${code} and deleted_at is null
    for update`;
  if (!row) throw refuse.notFound('add_on');
  return row;
}

/** Live add-ons by id or code, in no order; locked against their deletion. */
export const findAddOns = (db: Db, organizationId: string, by: { ids: readonly string[]; codes: readonly string[] }) =>
  db<AddOnRow[]>`
    select ${columns(db)} from add_ons
    where organization_id = ${organizationId} and deleted_at is null
      and (id = any (${by.ids}::uuid[]) or code = any (${by.codes}))
    for share`;

/** A page of live add-ons, newest first. */
export const listAddOns = (db: Db, organizationId: string, page: Page) => db<AddOnRow[]>`
  select ${columns(db)} from add_ons where organization_id = ${organizationId} and deleted_at is null
  order by created_at desc, id desc
  limit ${limitOf(page).limit} offset ${limitOf(page).offset}`;

export async function countAddOns(db: Db, organizationId: string): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    select count(*) as count from add_ons where organization_id = ${organizationId} and deleted_at is null`;
  return row!.count;
}
