import type { z } from 'zod';
import type { Currency } from '../../../engine/money/currency.ts';
import { columnsOf } from '../../../platform/db/rows.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { AddOnId } from '../../../platform/ids.ts';
import { type Column, column, orAbsent, orNull, type RowOf } from '../../../platform/schema/columns.ts';

/** An add-on as it is stored and shown; its taxes are shown beside. */
export const addOns = {
  name: 'add_on',
  table: 'add_ons',
  columns: {
    id: column.idOf<AddOnId>(),
    name: column.text,
    invoice_display_name: orNull(column.text),
    code: column.text,
    amount_cents: column.integer,
    amount_currency: column.text as Column<Currency, z.ZodString>,
    description: orNull(column.text),
    /** UN/ECE recommendation 20, for electronic documents. */
    unit_code: orAbsent(column.text),
    created_at: column.instant,
  },
};
export type AddOnRow = RowOf<typeof addOns>;

/** Live add-ons by id or code, in no particular order; locked against their deletion. */
export const findAddOns = ({ db, organizationId }: Scope, by: { ids: readonly string[]; codes: readonly string[] }) =>
  db<AddOnRow[]>`
    select ${columnsOf(db, addOns)} from add_ons add_on
    where organization_id = ${organizationId} and deleted_at is null
      and (id = any (${by.ids}::uuid[]) or code = any (${by.codes}))
    for share`;
